/* Conversion of one value between a YAML scalar and memory. The type is the parameter's and is never guessed from the
 * text: `no` is a name for a choice and false for a boolean. Octal, sexagesimal, underscores and infinities are not
 * supported.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "config/store.h"

/* Decimal or 0x hexadecimal, with an optional sign. */
static enum value_verdict parse_int(const char *text, int64_t *value) {
    const char *digits = text + (*text == '-' || *text == '+');
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    if (hex) digits += 2;
    const char *allowed = hex ? "0123456789abcdefABCDEF" : "0123456789";
    if (*digits == '\0' || digits[strspn(digits, allowed)] != '\0') return VALUE_WRONG_TYPE;
    errno = 0;
    *value = strtoll(text, NULL, hex ? 16 : 10);
    return errno == ERANGE ? VALUE_OUT_OF_RANGE : VALUE_TAKEN;
}

/* Digits with at most one point and an exponent. Checked first because strtod also accepts hexadecimal, inf and nan. */
static enum value_verdict parse_real(const char *text, double *value) {
    const char *at = text + (*text == '-' || *text == '+');
    size_t whole = strspn(at, "0123456789");
    at += whole;
    size_t fraction = 0;
    if (*at == '.') {
        fraction = strspn(at + 1, "0123456789");
        at += 1 + fraction;
    }
    if (whole + fraction == 0) return VALUE_WRONG_TYPE;
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        size_t exponent = strspn(at, "0123456789");
        if (exponent == 0) return VALUE_WRONG_TYPE;
        at += exponent;
    }
    if (*at != '\0') return VALUE_WRONG_TYPE;
    *value = strtod(text, NULL);
    return isfinite(*value) ? VALUE_TAKEN : VALUE_OUT_OF_RANGE;
}

/* 0 and 1 are accepted because `false` and `true` expand to them when a default passes through another macro. */
static enum value_verdict parse_bool(const char *text, bool *value) {
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (unsigned i = 0; i < COUNT_OF(words); i++) {
        if (strcasecmp(text, words[i]) != 0) continue;
        *value = i % 2 == 1;
        return VALUE_TAKEN;
    }
    return VALUE_WRONG_TYPE;
}

static enum value_verdict parse_text(const char *text, char *value) {
    size_t length = strlen(text);
    if (length >= CONFIG_TEXT_MAX) return VALUE_TOO_LONG;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == '\177') return VALUE_WRONG_TYPE;
    memset(value, 0, CONFIG_TEXT_MAX);
    memcpy(value, text, length);
    return VALUE_TAKEN;
}

static enum value_verdict parse_choice(const struct family *family, const char *text, const struct policy **value) {
    for (unsigned i = 0; i < family->count; i++) {
        if (strcmp(family->members[i]->name, text) != 0) continue;
        *value = family->members[i];
        return VALUE_TAKEN;
    }
    return VALUE_UNKNOWN_NAME;
}

enum value_verdict value_parse(const struct param *param, const char *text, bool plain, void *to) {
    enum value_verdict verdict;
    double number;
    switch (param->type) {
    case PARAM_TEXT: return parse_text(text, to);
    case PARAM_CHOICE: return parse_choice(param->family, text, to);
    case PARAM_BOOL: return plain ? parse_bool(text, to) : VALUE_WRONG_TYPE;
    case PARAM_INT:
    case PARAM_LIST:
        if (!plain) return VALUE_WRONG_TYPE;
        verdict = parse_int(text, to);
        if (verdict != VALUE_TAKEN) return verdict;
        number = (double)*(int64_t *)to;
        break;
    case PARAM_REAL:
        if (!plain) return VALUE_WRONG_TYPE;
        verdict = parse_real(text, to);
        if (verdict != VALUE_TAKEN) return verdict;
        number = *(double *)to;
        break;
    default: assert(!"a type of parameter that is not in enum param_type"); return VALUE_WRONG_TYPE;
    }
    return number >= param->min && number <= param->max ? VALUE_TAKEN : VALUE_OUT_OF_RANGE;
}

/* The shortest decimal that converts back to the same double. */
static int format_real(double value, char *text, size_t size) {
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        char attempt[40];
        length = snprintf(attempt, sizeof attempt, "%.*g", digits, value);
        if (size > 0) snprintf(text, size, "%s", attempt);
        if (strtod(attempt, NULL) == value) break;
    }
    return length;
}

/* Characters that YAML does not allow unescaped, or treats as a line break. */
static bool must_escape(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE ||
           c == 0xFFFF;
}

/* Decodes the character at `text` and its length in bytes; the text is valid UTF-8 because YAML accepted it. */
static uint32_t next_character(const unsigned char *text, unsigned *bytes) {
    *bytes = text[0] < 0x80 ? 1 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    uint32_t c = *bytes == 1 ? text[0] : text[0] & (0x7Fu >> *bytes);
    for (unsigned i = 1; i < *bytes; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            *bytes = i;
            break;
        }
        c = c << 6 | (text[i] & 0x3F);
    }
    return c;
}

int value_format_text(const char *from, char *text, size_t size) {
    size_t used = 0;
    char piece[16];
    const unsigned char *at = (const unsigned char *)from;
#define APPEND(...) \
    do { \
        int length_ = snprintf(piece, sizeof piece, __VA_ARGS__); \
        if (used < size) snprintf(text + used, size - used, "%s", piece); \
        used += (size_t)length_; \
    } while (0)
    APPEND("\"");
    while (*at) {
        unsigned bytes;
        uint32_t c = next_character(at, &bytes);
        if (c == '"' || c == '\\')
            APPEND("\\%c", (char)c);
        else if (c == '\n')
            APPEND("\\n");
        else if (must_escape(c))
            APPEND("\\u%04X", c);
        else
            APPEND("%.*s", (int)bytes, (const char *)at);
        at += bytes;
    }
    APPEND("\"");
#undef APPEND
    return (int)used;
}

static int format_list(const struct int_list *list, char *text, size_t size) {
    size_t used = 0;
    for (unsigned i = 0; i <= list->count; i++) {
        char piece[32];
        if (i == list->count)
            snprintf(piece, sizeof piece, i == 0 ? "[]" : "]");
        else
            snprintf(piece, sizeof piece, "%s%" PRId64, i == 0 ? "[" : ", ", list->value[i]);
        if (used < size) snprintf(text + used, size - used, "%s", piece);
        used += strlen(piece);
    }
    return (int)used;
}

int value_format(const struct param *param, const void *from, char *text, size_t size) {
    switch (param->type) {
    case PARAM_INT: return snprintf(text, size, "%" PRId64, *(const int64_t *)from);
    case PARAM_REAL: return format_real(*(const double *)from, text, size);
    case PARAM_BOOL: return snprintf(text, size, "%s", *(const bool *)from ? "true" : "false");
    case PARAM_TEXT: return value_format_text(from, text, size);
    case PARAM_CHOICE: return snprintf(text, size, "%s", (*(const struct policy *const *)from)->name);
    case PARAM_LIST: return format_list(from, text, size);
    }
    return 0;
}

void value_describe_type(const struct param *param, char *text, size_t size) {
    switch (param->type) {
    case PARAM_INT: snprintf(text, size, "an integer"); return;
    case PARAM_REAL: snprintf(text, size, "a number"); return;
    case PARAM_BOOL: snprintf(text, size, "true or false"); return;
    case PARAM_TEXT: snprintf(text, size, "a line of text"); return;
    case PARAM_CHOICE: snprintf(text, size, "the name of a %s", param->family->noun); return;
    case PARAM_LIST: snprintf(text, size, "a list of integers, as in [4, 1]"); return;
    }
}

void value_describe_range(const struct param *param, char *text, size_t size) {
    char low[40] = "", high[40] = "";
    double huge = param->type == PARAM_REAL ? 1e300 : 9e18; /* a bound that means "unbounded" */
    if (param->min > -huge) format_real(param->min, low, sizeof low);
    if (param->max < huge) format_real(param->max, high, sizeof high);
    snprintf(text, size, "%s%s%s%s%s%s%s", *low ? "at least " : "", low, *low && *high ? ", " : "",
             *high ? "at most " : "", high, param->unit && *param->unit ? " " : "", param->unit ? param->unit : "");
}
