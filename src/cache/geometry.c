#include "cache/geometry.h"

#include "base/base.h"
#include "sim/gpu_config.h"

enum { SETS_MAX = 65536 }; /* of the parameter; 0 stands for more */

static int64_t line_bytes(const struct config *config) {
    return ((const struct gpu_config *)config_get(config, &gpu_section))->line_bytes;
}

void cache_derive_sets(struct config *config, const struct cache_params *params) {
    int64_t size = params->size_kb * 1024, set_bytes = params->ways * line_bytes(config);
    if (params->sets == 0 || params->sets * set_bytes == size) return;
    const char *const from[] = {params->size_key, params->ways_key, "gpu.line_bytes"};
    const char *newest = params->sets_key;
    for (unsigned i = 0; i < COUNT_OF(from); i++)
        if (config_is_newer(config, from[i], newest)) newest = from[i];
    if (newest != params->sets_key)
        config_derive(config, params->sets_key, newest,
                      size % set_bytes == 0 && size / set_bytes <= SETS_MAX ? size / set_bytes : 0);
}

static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }

/* "choose 15 or 18 KB, or a number of ways that divides 128" */
static void advise(int64_t size_kb, int64_t set_bytes, int64_t lines, char *text, size_t size) {
    int64_t step = set_bytes / gcd(set_bytes, 1024), below = size_kb / step * step; /* sizes in whole KB */
    int used = snprintf(text, size, "choose ");
    if (below) used += snprintf(text + used, size - (size_t)used, "%lld or ", (long long)below);
    used += snprintf(text + used, size - (size_t)used, "%lld KB", (long long)(below + step));
    if (lines) snprintf(text + used, size - (size_t)used, ", or a number of ways that divides %lld", (long long)lines);
}

bool cache_check_size(const struct config *config, const struct cache_params *params, struct error *err) {
    long long line = line_bytes(config), size_kb = params->size_kb, ways = params->ways, sets = params->sets;
    long long lines = size_kb * 1024 / line;
    if (sets && sets * ways * line != size_kb * 1024) {
        bool late = config_is_newer(config, params->sets_key, params->size_key);
        return config_error(
            config, late ? params->sets_key : params->size_key, err,
            "%lld KB%s%s%s is not %s × %s × gpu.line_bytes = %lld × %lld × %lld = %.6g KB; set only %s, "
            "and the number of sets follows",
            size_kb, late ? " (" : "", late ? params->size_key : "", late ? ")" : "", params->sets_key,
            params->ways_key, sets, ways, line, (double)(sets * ways * line) / 1024, params->size_key);
    }
    if (lines && lines % ways == 0 && lines * line == size_kb * 1024) return true;
    bool resized = config_is_newer(config, params->size_key, params->ways_key);
    char advice[160];
    advise(size_kb, ways * line, lines, advice, sizeof advice);
    return config_error(config, resized ? params->size_key : params->ways_key, err,
                        "%lld KB in lines of %lld B are %lld lines, not a multiple of %lld ways (%s); %s", size_kb,
                        line, lines, ways, resized ? params->ways_key : params->size_key, advice);
}
