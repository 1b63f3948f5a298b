/* Instruction matching: parses lower_forms.def once, finds the row that fits an instruction's modifiers and number of
 * operands, and sets the operation's fields from the modifiers. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

struct row {
    uint8_t operation;
    uint32_t flags;
    form_family *family;
    const char *syntax;
};

#define lower_plain NULL
static const struct row rows[] = {
#define X(operation_, flags_, family_, syntax_) {OPERATION_##operation_, (uint32_t)(flags_), lower_##family_, syntax_},
#include "ptx/lower_forms.def"
#undef X
};
#undef lower_plain

/* Modifiers that set a flag of the operation unless they select a mode. */
static const uint32_t modifier_flag[PTX_MOD_COUNT] = {
    [PTX_MOD_ftz] = MOD_FTZ,      [PTX_MOD_sat] = MOD_SAT,
    [PTX_MOD_cc] = MOD_CC_OUT,    [PTX_MOD_approx] = MOD_APPROX,
    [PTX_MOD_full] = MOD_FULL,    [PTX_MOD_wrap] = MOD_WRAP,
    [PTX_MOD_NaN] = MOD_NAN_WINS, [PTX_MOD_xorsign] = MOD_XORSIGN_ABS,
    [PTX_MOD_relu] = MOD_RELU,    [PTX_MOD_shiftamt] = MOD_SHIFTAMT,
    [PTX_MOD_to] = MOD_TO,        [PTX_MOD_sync] = MOD_SYNC,
    [PTX_MOD_all] = MOD_ALL,      [PTX_MOD_oob] = MOD_OOB,
    [PTX_MOD_uni] = MOD_UNIFORM,  [PTX_MOD_add] = MOD_ACCUMULATE,
    [PTX_MOD_trans] = MOD_TRANS,  [PTX_MOD_satfinite] = MOD_SATFINITE,
    [PTX_MOD_abs] = MOD_ABS,      [PTX_MOD_bulk] = MOD_BULK,
    [PTX_MOD_noinc] = MOD_NOINC,
};

/* ---- parsing the rows ---- */

struct names {
    uint16_t sorted[PTX_MOD_COUNT];
};

static int name_order(const void *a, const void *b) {
    return strcmp(ptx_modifier_text(*(const uint16_t *)a), ptx_modifier_text(*(const uint16_t *)b));
}

static uint16_t name_find(const struct names *names, const char *text, size_t length) {
    unsigned low = 0, high = PTX_MOD_COUNT;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        const char *name = ptx_modifier_text(names->sorted[middle]);
        int order = strncmp(name, text, length);
        if (order == 0 && name[length] != '\0') order = 1;
        if (order == 0) return names->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    assert(!"a word of lower_forms.def is not a modifier");
    return PTX_MOD_other;
}

/* `.x`, `.(x|y)`, `.<x|y>`, optionally in brackets. Returns the rest. */
static const char *slot_read(const struct names *names, const char *at, struct form_slot *slot) {
    slot->optional = *at == '[';
    at += slot->optional ? 2 : 1;
    char end = *at == '(' ? ')' : *at == '<' ? '>' : '\0';
    slot->is_mode = end == '>';
    if (end) at++;
    for (;;) {
        size_t length = strcspn(at, "|)>].[ ");
        assert(slot->count < FORM_WORDS);
        slot->word[slot->count++] = length == 0 ? (uint16_t)PTX_MOD_other : name_find(names, at, length);
        at += length;
        if (!end || *at != '|') break;
        at++;
    }
    if (end) at++;
    uint16_t last = slot->word[slot->count - 1];
    slot->is_type = ptx_modifier_class(last) == PTX_CLASS_TYPE;
    return slot->optional ? at + 1 : at;
}

static const char *shape_read(const struct names *names, const char *at, struct form_shape *shape) {
    shape->role = *at++;
    if (*at == ':') {
        size_t length = strcspn(++at, "~*|? ");
        shape->rule = length > 1   ? SHAPE_FIXED
                      : *at == 'p' ? SHAPE_FIXED
                      : *at == '2' ? SHAPE_SECOND_TYPE
                      : *at == 'w' ? SHAPE_WIDE
                                   : SHAPE_ADDRESS;
        shape->fixed = length > 1 ? (uint8_t)ptx_modifier_value(name_find(names, at, length)) : (uint8_t)PTX_pred;
        at += length;
    }
    for (; *at && *at != ' '; at++) {
        if (*at == '~') shape->relaxed = true;
        if (*at == '*') shape->vector = true;
        if (*at == '|') shape->pair = true;
        if (*at == '?') shape->optional = true;
    }
    return at;
}

static enum ptx_mnemonic row_mnemonic(const char *syntax) {
    size_t length = strcspn(syntax, ".[ ");
    for (unsigned i = 0; i < PTX_MN_COUNT; i++) {
        const char *name = ptx_mnemonic_name(i);
        if (strncmp(name, syntax, length) == 0 && name[length] == '\0') return i;
    }
    assert(!"a row of lower_forms.def has no mnemonic");
    return PTX_MN_COUNT;
}

static void form_read(const struct names *names, const struct row *row, struct form *form) {
    *form =
        (struct form){.syntax = row->syntax, .family = row->family, .flags = row->flags, .operation = row->operation};
    const char *at = row->syntax + strcspn(row->syntax, ".[ ");
    while (*at == '.' || *at == '[') {
        assert(form->slot_count < FORM_SLOTS);
        at = slot_read(names, at, &form->slot[form->slot_count++]);
    }
    for (; *at == ' '; form->shape_count++) {
        assert(form->shape_count < FORM_SHAPES);
        struct form_shape *shape = &form->shape[form->shape_count];
        at = shape_read(names, at + 1, shape);
        form->required = (uint8_t)(form->required + !shape->optional);
    }
    form->any_operands = form->operation == OPERATION_call;
}

const struct forms *forms_create(struct arena *arena) {
    struct names names;
    for (unsigned i = 0; i < PTX_MOD_COUNT; i++) names.sorted[i] = (uint16_t)i;
    qsort(names.sorted, PTX_MOD_COUNT, sizeof names.sorted[0], name_order);
    for (unsigned i = 1; i < PTX_MOD_COUNT; i++)
        assert(name_order(&names.sorted[i - 1], &names.sorted[i]) && "a modifier has two rows");
    struct forms *forms = arena_alloc(arena, 1, sizeof *forms);
    forms->form = arena_alloc(arena, COUNT_OF(rows), sizeof *forms->form);
    uint8_t mnemonic[COUNT_OF(rows)];
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        mnemonic[i] = (uint8_t)row_mnemonic(rows[i].syntax);
        forms->first[mnemonic[i] + 1]++;
    }
    for (unsigned i = 0; i < PTX_MN_COUNT; i++) forms->first[i + 1] += forms->first[i];
    uint32_t next[PTX_MN_COUNT];
    memcpy(next, forms->first, sizeof next);
    for (unsigned i = 0; i < COUNT_OF(rows); i++) form_read(&names, &rows[i], &forms->form[next[mnemonic[i]]++]);
    return forms;
}

/* ---- matching ---- */

static int slot_position(const struct form_slot *slot, unsigned modifier) {
    for (unsigned i = 0; i < slot->count; i++)
        if (slot->word[i] == modifier) return (int)i;
    return -1;
}

/* Assigns the instruction's modifiers to slots, -1 for one that fits none. True if the form matches. */
static bool form_fit(const struct form *form, const struct ptx_instr *instr, int8_t slot_of[PTX_MODIFIERS],
                     unsigned *fitting) {
    uint32_t filled = 0;
    unsigned type_from = 0;
    *fitting = 0;
    for (unsigned i = 0; i < instr->modifier_count; i++) {
        bool is_type = ptx_modifier_class(instr->modifier[i]) == PTX_CLASS_TYPE;
        slot_of[i] = -1;
        for (unsigned s = is_type ? type_from : 0; s < form->slot_count && slot_of[i] < 0; s++)
            if (form->slot[s].is_type == is_type && !(filled >> s & 1)) {
                if (slot_position(&form->slot[s], instr->modifier[i]) >= 0)
                    slot_of[i] = (int8_t)s;
                else if (is_type && !form->slot[s].optional)
                    break; /* types must be in order */
            }
        if (slot_of[i] < 0) return false;
        filled |= UINT32_C(1) << slot_of[i];
        if (is_type) type_from = (unsigned)slot_of[i] + 1;
        ++*fitting;
    }
    for (unsigned s = 0; s < form->slot_count; s++)
        if (!form->slot[s].optional && !(filled >> s & 1)) return false;
    ++*fitting;
    return form->any_operands || (instr->count >= form->required && instr->count <= form->shape_count);
}

static uint8_t cache_of(unsigned modifier) {
    switch (modifier) {
    case PTX_MOD_cg: return CACHE_GLOBAL;
    case PTX_MOD_cs:
    case PTX_MOD_lu: return CACHE_STREAM;
    case PTX_MOD_cv:
    case PTX_MOD_wt: return CACHE_VOLATILE;
    default: return CACHE_DEFAULT;
    }
}

/* Applies a modifier to the operation. Any semantics stronger than .weak bypass caches that are not coherent. */
static void modifier_apply(const struct form_slot *slot, unsigned modifier, struct op *op, uint8_t types[FORM_TYPES],
                           unsigned *type_count) {
    uint8_t value = (uint8_t)ptx_modifier_value(modifier);
    if (slot->is_mode) {
        op->mode = (uint8_t)(slot_position(slot, modifier) + slot->optional);
        return;
    }
    op->modifiers |= modifier_flag[modifier];
    switch (ptx_modifier_class(modifier)) {
    case PTX_CLASS_TYPE:
        if (*type_count < FORM_TYPES) types[(*type_count)++] = value;
        break;
    case PTX_CLASS_SPACE: op->space = value; break;
    case PTX_CLASS_ROUNDING: op->rounding = value; break;
    case PTX_CLASS_COMPARE: op->compare = value; break;
    case PTX_CLASS_BOOLEAN: op->boolean = value; break;
    case PTX_CLASS_VECTOR: op->vector = value; break;
    case PTX_CLASS_SHAPE: op->shape = ptx_modifier_value(modifier); break;
    case PTX_CLASS_CACHE:
        if (cache_of(modifier) != CACHE_DEFAULT) op->cache = cache_of(modifier);
        break;
    case PTX_CLASS_SEMANTICS:
        if (modifier != PTX_MOD_weak) op->cache = CACHE_VOLATILE;
        break;
    default: break;
    }
}

const char *instr_text(const struct ptx_instr *instr, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s", ptx_mnemonic_name(instr->mnemonic));
    for (unsigned i = 0; i < instr->modifier_count && used < size; i++) {
        const char *name = ptx_modifier_text(instr->modifier[i]);
        used += (size_t)snprintf(text + used, size - used, ".%s", *name ? name : "...");
    }
    return text;
}

/* What forms allow instead of what an instruction has: a set of modifiers as text. */
struct allowed {
    bool word[PTX_MOD_COUNT];
    unsigned count;
};

static void allowed_add(struct allowed *allowed, const struct form_slot *slot) {
    for (unsigned i = 0; i < slot->count; i++) {
        if (slot->word[i] == PTX_MOD_other || allowed->word[slot->word[i]]) continue;
        allowed->word[slot->word[i]] = true;
        allowed->count++;
    }
}

/* ".u32, .s32 or .b32", in the order of modifiers.def, shortened if there are many. */
static const char *allowed_text(const struct allowed *allowed, char *text, size_t size) {
    enum { LISTED = 24 };
    size_t used = 0;
    unsigned listed = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < PTX_MOD_COUNT && listed < LISTED && used < size; i++) {
        if (!allowed->word[i]) continue;
        const char *before = !listed ? "" : listed + 1 == allowed->count ? " or " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s.%s", before, ptx_modifier_text(i));
        listed++;
    }
    if (allowed->count > LISTED && used < size) snprintf(text + used, size - used, ", ...");
    return text;
}

/* The slots of a form that its first `fitting` modifiers leave open, and that may take the next modifier (or, if there is
 * none, that must be filled). */
static void allowed_open(struct allowed *allowed, const struct form *form, const struct ptx_instr *instr,
                         unsigned fitting) {
    int8_t slot_of[PTX_MODIFIERS];
    unsigned ignored, type_from = 0;
    bool filled[FORM_SLOTS] = {false}, more = fitting < instr->modifier_count;
    bool is_type = more && ptx_modifier_class(instr->modifier[fitting]) == PTX_CLASS_TYPE;
    form_fit(form, instr, slot_of, &ignored);
    for (unsigned i = 0; i < fitting; i++) {
        filled[slot_of[i]] = true;
        if (form->slot[slot_of[i]].is_type) type_from = (unsigned)slot_of[i] + 1;
    }
    for (unsigned s = 0; s < form->slot_count; s++) {
        const struct form_slot *slot = &form->slot[s];
        if (filled[s] || (slot->is_type && s < type_from)) continue;
        if (more ? slot->is_type == is_type : !slot->optional) allowed_add(allowed, slot);
        if (slot->is_type && !slot->optional) break; /* types must be in order */
    }
}

enum { HELPFUL = 12 }; /* the complete list of what a load accepts helps nobody */

/* ".relaxed and .sys": what a form still needs after all modifiers of the instruction. */
static void needed_text(const struct form *form, const struct ptx_instr *instr, char *text, size_t size) {
    int8_t slot_of[PTX_MODIFIERS];
    unsigned ignored;
    bool filled[FORM_SLOTS] = {false};
    size_t used = 0;
    text[0] = '\0';
    form_fit(form, instr, slot_of, &ignored);
    for (unsigned i = 0; i < instr->modifier_count; i++) filled[slot_of[i]] = true;
    for (unsigned s = 0; s < form->slot_count && used < size; s++) {
        struct allowed allowed = {{false}, 0};
        char list[160];
        if (filled[s] || form->slot[s].optional) continue;
        allowed_add(&allowed, &form->slot[s]);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " and " : "",
                                 allowed_text(&allowed, list, sizeof list));
    }
}

/* "; .f32 is possible with .min or .max": modifiers that one of the instruction's first ones could be replaced with, so
 * that its type, modifier `at`, would be possible. */
static void replacement_text(const struct forms *forms, const struct ptx_instr *instr, unsigned at, char *text,
                             size_t size) {
    struct allowed allowed = {{false}, 0};
    for (unsigned without = 0; without < at; without++) {
        struct ptx_instr rest = *instr;
        rest.modifier_count--;
        memmove(&rest.modifier[without], &rest.modifier[without + 1],
                (rest.modifier_count - without) * sizeof *rest.modifier);
        for (uint32_t f = forms->first[instr->mnemonic]; f < forms->first[instr->mnemonic + 1]; f++) {
            int8_t slot_of[PTX_MODIFIERS];
            unsigned fits;
            form_fit(&forms->form[f], &rest, slot_of, &fits);
            if (fits == rest.modifier_count) allowed_open(&allowed, &forms->form[f], &rest, fits);
        }
    }
    char list[160];
    text[0] = '\0';
    if (allowed.count && allowed.count <= HELPFUL)
        snprintf(text, size, "; .%s is possible with %s", ptx_modifier_text(instr->modifier[at]),
                 allowed_text(&allowed, list, sizeof list));
}

/* Explains why no form matches, in terms of the forms that come closest: those with the most modifiers that fit. */
static void explain(const struct forms *forms, const struct ptx_module *module, const struct ptx_instr *instr,
                    unsigned fitting, struct error *err) {
    const char *name = ptx_mnemonic_name(instr->mnemonic);
    uint32_t from = forms->first[instr->mnemonic], to = forms->first[instr->mnemonic + 1];
    struct allowed allowed = {{false}, 0};
    const struct form *closest = NULL;
    unsigned least = UINT_MAX, most = 0, close = 0;
    char text[128], list[320], more[224];
    bool known = fitting >= instr->modifier_count;
    for (uint32_t f = from; f < to; f++) {
        const struct form *form = &forms->form[f];
        int8_t slot_of[PTX_MODIFIERS];
        unsigned fits;
        for (unsigned s = 0; s < form->slot_count && !known; s++)
            known = slot_position(&form->slot[s], instr->modifier[fitting]) >= 0;
        form_fit(form, instr, slot_of, &fits);
        if (fits != fitting) continue;
        if (fitting <= instr->modifier_count) allowed_open(&allowed, form, instr, fitting);
        closest = form;
        close++;
        least = form->required < least ? form->required : least;
        most = form->shape_count > most ? form->shape_count : most;
    }
    if (from == to) {
        ptx_error(module, instr->place, err, "`%s` has no supported form", name);
        return;
    }
    instr_text(instr, text, sizeof text);
    allowed_text(&allowed, list, sizeof list);
    if (fitting > instr->modifier_count) {
        char range[32];
        snprintf(range, sizeof range, least == most ? "%u" : "%u to %u", least, most);
        ptx_error(module, instr->place, err, "`%s` with %u operand%s; expected %s", text, instr->count,
                  instr->count == 1 ? "" : "s", range);
        return;
    }
    if (fitting == instr->modifier_count) {
        if (close == 1) needed_text(closest, instr, list, sizeof list);
        ptx_error(module, instr->place, err, "`%s` is not complete: it needs %s", text, list);
        return;
    }
    struct ptx_place place = {instr->place.line, instr->modifier_column[fitting],
                              instr->place.offset + (instr->modifier_column[fitting] - instr->place.column)};
    const char *wrong = ptx_modifier_text(instr->modifier[fitting]);
    bool is_type = ptx_modifier_class(instr->modifier[fitting]) == PTX_CLASS_TYPE;
    bool listed = allowed.count && (is_type || allowed.count <= HELPFUL);
    if (!known)
        ptx_error(module, place, err, "`%s` does not accept .%s%s%s", name, wrong, listed ? "; possible here: " : "",
                  listed ? list : "");
    else if (listed && is_type)
        replacement_text(forms, instr, fitting, more, sizeof more),
            ptx_error(module, place, err, "there is no `%s`: the type must be %s%s", text, list, more);
    else
        ptx_error(module, place, err, "there is no `%s`: .%s is not possible here%s%s", text, wrong,
                  listed ? ", but " : "", listed ? list : "");
}

struct op op_without_operands(uint8_t operation) {
    return (struct op){.operation = operation,
                       .vector = 1,
                       .dst = PLACE_NONE,
                       .dst2 = PLACE_NONE,
                       .a = PLACE_NONE,
                       .b = PLACE_NONE,
                       .c = PLACE_NONE,
                       .d = PLACE_NONE};
}

const struct form *forms_match(const struct forms *forms, const struct ptx_module *module,
                               const struct ptx_instr *instr, struct op *op, uint8_t types[FORM_TYPES],
                               struct error *err) {
    unsigned best = 0;
    int8_t slot_of[PTX_MODIFIERS];
    for (uint32_t f = forms->first[instr->mnemonic]; f < forms->first[instr->mnemonic + 1]; f++) {
        const struct form *form = &forms->form[f];
        unsigned fitting;
        if (!form_fit(form, instr, slot_of, &fitting)) {
            if (fitting > best) best = fitting;
            continue;
        }
        *op = op_without_operands(form->operation);
        op->modifiers = form->flags & ~(uint32_t)FORM_REFUSED;
        types[0] = types[1] = types[2] = types[3] = PTX_b32;
        unsigned type_count = 0;
        for (unsigned i = 0; i < instr->modifier_count; i++)
            modifier_apply(&form->slot[slot_of[i]], instr->modifier[i], op, types, &type_count);
        op->element = (uint8_t)type_plain(types[0]);
        op->source = (uint8_t)type_plain(type_count > 1 ? types[1] : types[0]);
        return form;
    }
    if (err) explain(forms, module, instr, best, err);
    return NULL;
}

bool forms_refused(const struct forms *forms, const struct ptx_module *module, const struct ptx_instr *instr) {
    bool partly = ptx_mnemonic_partly(instr->mnemonic);
    if (!partly && !ptx_mnemonic_supported(instr->mnemonic)) return true;
    struct op op;
    uint8_t types[FORM_TYPES];
    const struct form *form = forms_match(forms, module, instr, &op, types, NULL);
    if (form || partly) return !form || (form->flags & FORM_REFUSED);
    for (unsigned i = 0; i < instr->modifier_count; i++)
        if (ptx_modifier_class(instr->modifier[i]) == PTX_CLASS_OTHER || instr->modifier[i] == PTX_MOD_async)
            return true;
    return false;
}
