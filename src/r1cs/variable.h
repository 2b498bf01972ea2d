/* Names of variables. A constraint system has two index spaces, inputs (public; input 0 is ONE, value 1) and
 * aux (private), each numbered in allocation order. */
#ifndef CUZK_R1CS_VARIABLE_H
#define CUZK_R1CS_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t id; /* input index, or VARIABLE_AUX | aux index: sorts inputs first, then aux */
} variable;

#define VARIABLE_AUX UINT32_C(0x80000000)
static const variable VARIABLE_ONE = {0};

static inline variable variable_input(uint32_t index)
{
    return (variable){index};
}

static inline variable variable_aux(uint32_t index)
{
    return (variable){VARIABLE_AUX | index};
}

static inline bool variable_is_aux(variable v)
{
    return (v.id & VARIABLE_AUX) != 0;
}

static inline uint32_t variable_index(variable v)
{
    return v.id & ~VARIABLE_AUX;
}

/* What a variable can hold: a bit is 0 or 1 for every witness that a circuit writes (a property of the
 * circuit), a field variable any element. */
enum variable_kind { KIND_BIT, KIND_FIELD };

#endif
