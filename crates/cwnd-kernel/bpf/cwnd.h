/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What every algorithm includes: the fields of the kernel that they use, their hooks, and windows in integers.
 *
 * A file of an algorithm names itself (`#define ALGORITHM elastic`), includes this, declares what it keeps
 * (`PRIVATE`), writes its hooks (`INIT`, `SSTHRESH`, `CONG_AVOID`, ...) and ends with `OPERATIONS`, which lists
 * them. The same file is compiled twice: to BPF, for the kernel, and natively, where the test that holds it
 * against the Rust algorithm and the simulator run it.
 *
 * BPF has no floating point, no signed division and no loops without a bound. What is a fraction in an
 * equation is an integer in some part of one here; each says in which.
 */
#ifndef CWND_H
#define CWND_H

#include "fields.h"

#ifdef CWND_NATIVE
#include "native.h"
#else
#include "kernel.h"
#endif

#include "window.h"

#endif
