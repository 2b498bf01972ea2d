/* The networks of picks that insert a number among 1, 3 or 7 siblings (gadgets specification, 7.4), as
 * tables: the circuit and the expansion of its values walk the same ones. Room-internal. */
#ifndef CUZK_GADGET_INSERT_NETWORK_H
#define CUZK_GADGET_INSERT_NETWORK_H

#include <stdint.h>

/* Operand 0 is the inserted number, 1 to 7 are its siblings, T and U the first and second pick of this output
 * position. */
enum { E0, X0, X1, X2, X3, X4, X5, X6, T, U };
enum { B0, B1, B2, N, D }; /* N = neither b0 nor b1, D = both; only for size 8 */

struct network_pick {
    uint8_t condition, yes, no;
    uint8_t out; /* this pick is the next output */
};

static const struct network_pick insert_2[] = {{B0, X0, E0, 1}, {B0, E0, X0, 1}};
static const struct network_pick insert_4[] = {
    {B0, X0, E0, 0}, {B1, X0, T, 1}, {B0, E0, X0, 0}, {B1, X1, T, 1},
    {B0, X2, E0, 0}, {B1, T, X1, 1}, {B0, E0, X2, 0}, {B1, T, X2, 1},
};
static const struct network_pick insert_8[] = {
    {N, E0, X0, 0},  {B2, X0, T, 1},                 /* 0 */
    {B0, E0, X0, 0}, {B1, X1, T, 0}, {B2, X1, U, 1}, /* 1 */
    {B0, X2, E0, 0}, {B1, T, X1, 0}, {B2, X2, U, 1}, /* 2 */
    {D, E0, X2, 0},  {B2, X3, T, 1},                 /* 3 */
    {N, E0, X4, 0},  {B2, T, X3, 1},                 /* 4 */
    {B0, E0, X4, 0}, {B1, X5, T, 0}, {B2, U, X4, 1}, /* 5 */
    {B0, X6, E0, 0}, {B1, T, X5, 0}, {B2, U, X5, 1}, /* 6 */
    {D, E0, X6, 0},  {B2, T, X6, 1},                 /* 7 */
};

static inline const struct network_pick *insert_network(uint32_t log2_size)
{
    return log2_size == 1 ? insert_2 : log2_size == 2 ? insert_4 : insert_8;
}

static inline uint32_t insert_network_picks(uint32_t log2_size)
{
    return log2_size == 1 ? 2 : log2_size == 2 ? 8 : 20;
}

#endif
