/* Montgomery multiplication and squaring for Fr and Fp with MULX, ADCX and ADOX (x86-64, SysV ABI).
 *
 * A product row (all of a times one limb of b) and a reduction row (q times the modulus, q chosen so that the
 * lowest limb vanishes) alternate. MULX leaves the flags alone and ADCX and ADOX carry in different flags, so
 * the low and the high halves of a row's products are added in two independent chains, without spilling a
 * carry. The sum stays in registers; a reduction row moves it down by one limb as it goes: limb j is consumed
 * just before MULX overwrites its register with a high half. The top limbs of both moduli are below 2^63, so
 * after each pair of rows the sum is below twice the modulus and needs no further limb; one conditional
 * subtraction at the end reduces it fully.
 *
 * Squaring forms the whole square first (cross products once, doubled), reduces its low half by reduction
 * rows alone and adds the high half at the end: n(n-1)/2 fewer products.
 *
 * No branches, no secret-dependent addresses. out may alias the inputs: it is written last.
 *
 *   products (mulx and imul):   Fr mul 36, sqr 30;  Fp mul 78, sqr 63 */

    .section .rodata
    .balign 64
    .globl field_asm_p
    .hidden field_asm_p
field_asm_p:
    .quad 0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624
    .quad 0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a
.Lfp_n0:
    .quad 0x89f3fffcfffcfffd
    .quad 0
    .globl field_asm_r
    .hidden field_asm_r
field_asm_r:
    .quad 0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
.Lfr_n0:
    .quad 0xfffffffeffffffff

    .text

.macro SAVE reg
    push %\reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %\reg, 0
.endm

.macro RESTORE reg
    pop %\reg
    .cfi_adjust_cfa_offset -8
    .cfi_restore %\reg
.endm

.macro BEGIN name
    .globl \name
    .hidden \name
    .type \name, @function
    .balign 64
\name:
    .cfi_startproc
.endm

.macro END name
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

/* ---- Fp: the sum lives in r8 r9 r10 r11 rbx r12 and, between the rows of a pair, its top limb in rbp ---- */

/* Sum := a * limb; a at rsi, limb in rdx. */
.macro FP_PRODUCT_FIRST
    mulx (%rsi), %r8, %r9
    mulx 8(%rsi), %rax, %r10
    add %rax, %r9
    mulx 16(%rsi), %rax, %r11
    adc %rax, %r10
    mulx 24(%rsi), %rax, %rbx
    adc %rax, %r11
    mulx 32(%rsi), %rax, %r12
    adc %rax, %rbx
    mulx 40(%rsi), %rax, %rbp
    adc %rax, %r12
    adc $0, %rbp
.endm

/* Sum += a * limb. */
.macro FP_PRODUCT
    xor %eax, %eax /* clears CF and OF */
    mulx (%rsi), %rax, %rbp
    adox %rax, %r8
    adcx %rbp, %r9
    mulx 8(%rsi), %rax, %rbp
    adox %rax, %r9
    adcx %rbp, %r10
    mulx 16(%rsi), %rax, %rbp
    adox %rax, %r10
    adcx %rbp, %r11
    mulx 24(%rsi), %rax, %rbp
    adox %rax, %r11
    adcx %rbp, %rbx
    mulx 32(%rsi), %rax, %rbp
    adox %rax, %rbx
    adcx %rbp, %r12
    mulx 40(%rsi), %rax, %rbp
    adox %rax, %r12
    mov $0, %eax
    adcx %rax, %rbp
    adox %rax, %rbp
.endm

/* Sum := (sum + q p) / 2^64, with the top limb \top added; the six registers are \t0 .. \t5. */
.macro FP_REDUCE t0, t1, t2, t3, t4, t5, top, temp
    mov %\t0, %rdx
    imul .Lfp_n0(%rip), %rdx
    xor %eax, %eax
    mulx field_asm_p(%rip), %rax, %\temp
    adcx %\t0, %rax
    mov %\temp, %\t0
    adcx %\t1, %\t0
    mulx field_asm_p+8(%rip), %rax, %\t1
    adox %rax, %\t0
    adcx %\t2, %\t1
    mulx field_asm_p+16(%rip), %rax, %\t2
    adox %rax, %\t1
    adcx %\t3, %\t2
    mulx field_asm_p+24(%rip), %rax, %\t3
    adox %rax, %\t2
    adcx %\t4, %\t3
    mulx field_asm_p+32(%rip), %rax, %\t4
    adox %rax, %\t3
    adcx %\t5, %\t4
    mulx field_asm_p+40(%rip), %rax, %\t5
    adox %rax, %\t4
    mov $0, %eax
    adcx %rax, %\t5
.ifb \top
    adox %rax, %\t5
.else
    adox %\top, %\t5
.endif
.endm

/* (rdi) := sum, less p if that is not negative. Clobbers rax, rdx, rcx, rsi, rbp, r13. */
.macro FP_FINISH t0, t1, t2, t3, t4, t5
    mov %\t0, %rax
    mov %\t1, %rdx
    mov %\t2, %rcx
    mov %\t3, %rsi
    mov %\t4, %rbp
    mov %\t5, %r13
    sub field_asm_p(%rip), %rax
    sbb field_asm_p+8(%rip), %rdx
    sbb field_asm_p+16(%rip), %rcx
    sbb field_asm_p+24(%rip), %rsi
    sbb field_asm_p+32(%rip), %rbp
    sbb field_asm_p+40(%rip), %r13
    cmovc %\t0, %rax
    cmovc %\t1, %rdx
    cmovc %\t2, %rcx
    cmovc %\t3, %rsi
    cmovc %\t4, %rbp
    cmovc %\t5, %r13
    mov %rax, (%rdi)
    mov %rdx, 8(%rdi)
    mov %rcx, 16(%rdi)
    mov %rsi, 24(%rdi)
    mov %rbp, 32(%rdi)
    mov %r13, 40(%rdi)
.endm

/* void fp_mul_adx(fp *out, const fp *a, const fp *b) */
BEGIN fp_mul_adx
    SAVE rbx
    SAVE rbp
    SAVE r12
    SAVE r13
    mov %rdx, %rcx
    mov (%rcx), %rdx
    FP_PRODUCT_FIRST
    FP_REDUCE r8, r9, r10, r11, rbx, r12, rbp, r13
.irp offset, 8, 16, 24, 32, 40
    mov \offset(%rcx), %rdx
    FP_PRODUCT
    FP_REDUCE r8, r9, r10, r11, rbx, r12, rbp, r13
.endr
    FP_FINISH r8, r9, r10, r11, rbx, r12
    RESTORE r13
    RESTORE r12
    RESTORE rbp
    RESTORE rbx
END fp_mul_adx

/* void fp_sqr_adx(fp *out, const fp *a). The square is r8 .. r15, rbx, rcx, rbp, rdi from the low limb up. */
BEGIN fp_sqr_adx
    SAVE rbx
    SAVE rbp
    SAVE r12
    SAVE r13
    SAVE r14
    SAVE r15
    push %rdi
    .cfi_adjust_cfa_offset 8
    /* cross products into limbs 1 .. 10: r9 .. rbp */
    mov (%rsi), %rdx
    mulx 8(%rsi), %r9, %r10
    mulx 16(%rsi), %rax, %r11
    add %rax, %r10
    mulx 24(%rsi), %rax, %r12
    adc %rax, %r11
    mulx 32(%rsi), %rax, %r13
    adc %rax, %r12
    mulx 40(%rsi), %rax, %r14
    adc %rax, %r13
    adc $0, %r14
    mov 8(%rsi), %rdx
    xor %r15d, %r15d
    mulx 16(%rsi), %rax, %rdi
    adox %rax, %r11
    adcx %rdi, %r12
    mulx 24(%rsi), %rax, %rdi
    adox %rax, %r12
    adcx %rdi, %r13
    mulx 32(%rsi), %rax, %rdi
    adox %rax, %r13
    adcx %rdi, %r14
    mulx 40(%rsi), %rax, %rdi
    adox %rax, %r14
    adcx %rdi, %r15
    mov $0, %eax
    adox %rax, %r15
    mov 16(%rsi), %rdx
    xor %ebx, %ebx
    mulx 24(%rsi), %rax, %rdi
    adox %rax, %r13
    adcx %rdi, %r14
    mulx 32(%rsi), %rax, %rdi
    adox %rax, %r14
    adcx %rdi, %r15
    mulx 40(%rsi), %rax, %rdi
    adox %rax, %r15
    adcx %rdi, %rbx
    mov $0, %eax
    adox %rax, %rbx
    mov 24(%rsi), %rdx
    xor %ecx, %ecx
    mulx 32(%rsi), %rax, %rdi
    adox %rax, %r15
    adcx %rdi, %rbx
    mulx 40(%rsi), %rax, %rdi
    adox %rax, %rbx
    adcx %rdi, %rcx
    mov $0, %eax
    adox %rax, %rcx
    mov 32(%rsi), %rdx
    mulx 40(%rsi), %rax, %rbp
    add %rax, %rcx
    adc $0, %rbp
    /* doubled (OF) plus the squares of the limbs (CF) */
    mov (%rsi), %rdx
    xor %edi, %edi
    mulx %rdx, %r8, %rax
    adox %r9, %r9
    adcx %rax, %r9
    mov 8(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %r10, %r10
    adcx %rax, %r10
    adox %r11, %r11
    adcx %rdx, %r11
    mov 16(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %r12, %r12
    adcx %rax, %r12
    adox %r13, %r13
    adcx %rdx, %r13
    mov 24(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %r14, %r14
    adcx %rax, %r14
    adox %r15, %r15
    adcx %rdx, %r15
    mov 32(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %rbx, %rbx
    adcx %rax, %rbx
    adox %rcx, %rcx
    adcx %rdx, %rcx
    mov 40(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %rbp, %rbp
    adcx %rax, %rbp
    adox %rdi, %rdi /* 0 + OF */
    adcx %rdx, %rdi
    /* low half r8 .. r13 reduced to less than p + 1, then the high half r14 r15 rbx rcx rbp rdi added */
.rept 6
    FP_REDUCE r8, r9, r10, r11, r12, r13, , rsi
.endr
    add %r8, %r14
    adc %r9, %r15
    adc %r10, %rbx
    adc %r11, %rcx
    adc %r12, %rbp
    adc %r13, %rdi
    mov %r14, %r8
    mov %r15, %r9
    mov %rbx, %r10
    mov %rcx, %r11
    mov %rbp, %r12
    mov %rdi, %r14
    pop %rdi
    .cfi_adjust_cfa_offset -8
    FP_FINISH r8, r9, r10, r11, r12, r14
    RESTORE r15
    RESTORE r14
    RESTORE r13
    RESTORE r12
    RESTORE rbp
    RESTORE rbx
END fp_sqr_adx

/* ---- Fr: the sum lives in r8 r9 r10 r11 and, between the rows of a pair, its top limb in rbx ---- */

.macro FR_PRODUCT
    xor %eax, %eax
    mulx (%rsi), %rax, %rbx
    adox %rax, %r8
    adcx %rbx, %r9
    mulx 8(%rsi), %rax, %rbx
    adox %rax, %r9
    adcx %rbx, %r10
    mulx 16(%rsi), %rax, %rbx
    adox %rax, %r10
    adcx %rbx, %r11
    mulx 24(%rsi), %rax, %rbx
    adox %rax, %r11
    mov $0, %eax
    adcx %rax, %rbx
    adox %rax, %rbx
.endm

.macro FR_REDUCE top, temp
    mov %r8, %rdx
    imul .Lfr_n0(%rip), %rdx
    xor %eax, %eax
    mulx field_asm_r(%rip), %rax, %\temp
    adcx %r8, %rax
    mov %\temp, %r8
    adcx %r9, %r8
    mulx field_asm_r+8(%rip), %rax, %r9
    adox %rax, %r8
    adcx %r10, %r9
    mulx field_asm_r+16(%rip), %rax, %r10
    adox %rax, %r9
    adcx %r11, %r10
    mulx field_asm_r+24(%rip), %rax, %r11
    adox %rax, %r10
    mov $0, %eax
    adcx %rax, %r11
.ifb \top
    adox %rax, %r11
.else
    adox %\top, %r11
.endif
.endm

/* (rdi) := r8 .. r11, less r if that is not negative. Clobbers rax, rdx, rcx, rsi. */
.macro FR_FINISH
    mov %r8, %rax
    mov %r9, %rdx
    mov %r10, %rcx
    mov %r11, %rsi
    sub field_asm_r(%rip), %rax
    sbb field_asm_r+8(%rip), %rdx
    sbb field_asm_r+16(%rip), %rcx
    sbb field_asm_r+24(%rip), %rsi
    cmovc %r8, %rax
    cmovc %r9, %rdx
    cmovc %r10, %rcx
    cmovc %r11, %rsi
    mov %rax, (%rdi)
    mov %rdx, 8(%rdi)
    mov %rcx, 16(%rdi)
    mov %rsi, 24(%rdi)
.endm

/* void fr_mul_adx(fr *out, const fr *a, const fr *b) */
BEGIN fr_mul_adx
    SAVE rbx
    SAVE rbp
    mov %rdx, %rcx
    mov (%rcx), %rdx
    mulx (%rsi), %r8, %r9
    mulx 8(%rsi), %rax, %r10
    add %rax, %r9
    mulx 16(%rsi), %rax, %r11
    adc %rax, %r10
    mulx 24(%rsi), %rax, %rbx
    adc %rax, %r11
    adc $0, %rbx
    FR_REDUCE rbx, rbp
.irp offset, 8, 16, 24
    mov \offset(%rcx), %rdx
    FR_PRODUCT
    FR_REDUCE rbx, rbp
.endr
    FR_FINISH
    RESTORE rbp
    RESTORE rbx
END fr_mul_adx

/* void fr_sqr_adx(fr *out, const fr *a). The square is r8 .. r11, rbx, rcx, rbp, r12 from the low limb up. */
BEGIN fr_sqr_adx
    SAVE rbx
    SAVE rbp
    SAVE r12
    mov (%rsi), %rdx
    mulx 8(%rsi), %r9, %r10
    mulx 16(%rsi), %rax, %r11
    add %rax, %r10
    mulx 24(%rsi), %rax, %rbx
    adc %rax, %r11
    adc $0, %rbx
    mov 8(%rsi), %rdx
    xor %ecx, %ecx
    mulx 16(%rsi), %rax, %rbp
    adox %rax, %r11
    adcx %rbp, %rbx
    mulx 24(%rsi), %rax, %rbp
    adox %rax, %rbx
    adcx %rbp, %rcx
    mov $0, %eax
    adox %rax, %rcx
    mov 16(%rsi), %rdx
    mulx 24(%rsi), %rax, %rbp
    add %rax, %rcx
    adc $0, %rbp
    mov (%rsi), %rdx
    xor %r12d, %r12d
    mulx %rdx, %r8, %rax
    adox %r9, %r9
    adcx %rax, %r9
    mov 8(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %r10, %r10
    adcx %rax, %r10
    adox %r11, %r11
    adcx %rdx, %r11
    mov 16(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %rbx, %rbx
    adcx %rax, %rbx
    adox %rcx, %rcx
    adcx %rdx, %rcx
    mov 24(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    adox %rbp, %rbp
    adcx %rax, %rbp
    adox %r12, %r12
    adcx %rdx, %r12
.rept 4
    FR_REDUCE , rsi
.endr
    add %rbx, %r8
    adc %rcx, %r9
    adc %rbp, %r10
    adc %r12, %r11
    FR_FINISH
    RESTORE r12
    RESTORE rbp
    RESTORE rbx
END fr_sqr_adx

/* void fr_dot_rows_adx(uint64_t out[5], const fr *a, const fr *b, size_t n): see fr_dot.c. The accumulator is
 * r8 .. r13; r14 = 0 and rbp the number of limbs of b still to do. */
BEGIN fr_dot_rows_adx
    SAVE rbx
    SAVE rbp
    SAVE r12
    SAVE r13
    SAVE r14
    SAVE r15
    push %rdi
    .cfi_adjust_cfa_offset 8
    mov %rcx, %r15
    mov %rdx, %rdi
    xor %r8d, %r8d
    xor %r9d, %r9d
    xor %r10d, %r10d
    xor %r11d, %r11d
    xor %r12d, %r12d
    mov $4, %ebp
    shl $5, %r15 /* bytes of a, and of b */
1:
    xor %r13d, %r13d
    xor %ecx, %ecx
    cmp %r15, %rcx
    je 3f
2:
    mov (%rdi,%rcx), %rdx
    xor %r14d, %r14d /* clears CF and OF */
    mulx (%rsi,%rcx), %rax, %rbx
    adox %rax, %r8
    adcx %rbx, %r9
    mulx 8(%rsi,%rcx), %rax, %rbx
    adox %rax, %r9
    adcx %rbx, %r10
    mulx 16(%rsi,%rcx), %rax, %rbx
    adox %rax, %r10
    adcx %rbx, %r11
    mulx 24(%rsi,%rcx), %rax, %rbx
    adox %rax, %r11
    adcx %rbx, %r12
    adox %r14, %r12
    adcx %r14, %r13
    adox %r14, %r13
    add $32, %rcx
    cmp %r15, %rcx
    jne 2b
3:
    mov %r8, %rdx
    imul .Lfr_n0(%rip), %rdx
    xor %r14d, %r14d
    mulx field_asm_r(%rip), %rax, %rbx
    adcx %r8, %rax
    mov %rbx, %r8
    adcx %r9, %r8
    mulx field_asm_r+8(%rip), %rax, %r9
    adox %rax, %r8
    adcx %r10, %r9
    mulx field_asm_r+16(%rip), %rax, %r10
    adox %rax, %r9
    adcx %r11, %r10
    mulx field_asm_r+24(%rip), %rax, %r11
    adox %rax, %r10
    adcx %r12, %r11
    adox %r14, %r11
    mov %r14, %r12
    adcx %r13, %r12
    adox %r14, %r12
    add $8, %rdi
    dec %ebp
    jne 1b
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov %r8, (%rdi)
    mov %r9, 8(%rdi)
    mov %r10, 16(%rdi)
    mov %r11, 24(%rdi)
    mov %r12, 32(%rdi)
    RESTORE r15
    RESTORE r14
    RESTORE r13
    RESTORE r12
    RESTORE rbp
    RESTORE rbx
END fr_dot_rows_adx

    .section .note.GNU-stack, "", @progbits
