/* Queue handling of batch-affine addition for one group: a template, included once per group by
 * curve/batch_affine.c with GROUP and FIELD defined. No include guard. */

static void GN(batch_run)(struct GN(batch) * batch)
{
#ifdef CUZK_X86_64
    if (flavour_ifma_in_force()) {
        GN(batch_kernel_x8)(batch->sums, batch->count, batch->scratch);
        return;
    }
#endif
    GN_CALL(GN(batch_kernel), batch->sums, batch->count, batch->scratch);
}

void GN(batch_flush)(struct GN(batch) * batch)
{
    if (batch->count)
        GN(batch_run)(batch);
    if (batch->doublings)
        GN_CALL(GN(batch_double_kernel), batch->doubled, batch->doublings, batch->scratch);
    batch->count = batch->doublings = 0;
}

static void GN(copy_signed)(GN(affine) * out, const GN(affine) * a, bool negate)
{
    if (negate)
        GN(affine_neg)(out, a);
    else
        *out = *a;
}

bool GN(batch_special)(struct GN(batch) * batch, GN(affine) * out, const GN(affine) * a, bool negate_a,
                       const GN(affine) * b, bool negate_b)
{
    if (GN(affine_is_infinity)(a)) {
        GN(copy_signed)(out, b, negate_b);
        return true;
    }
    if (GN(affine_is_infinity)(b)) {
        GN(copy_signed)(out, a, negate_a);
        return true;
    }
    if (!FN(equal)(&a->x, &b->x))
        return false;
    if (FN(equal)(&a->y, &b->y) != (negate_a == negate_b)) {
        *out = (GN(affine)){0};
        return true;
    }
    batch->doubled[batch->doublings++] = (struct GN(sum)){a, a, out, negate_a, negate_a};
    if (batch->doublings == BATCH_DOUBLINGS) {
        GN_CALL(GN(batch_double_kernel), batch->doubled, batch->doublings, batch->scratch);
        batch->doublings = 0;
    }
    return true;
}
