//===- DnnOps.td - Every op of the dialect -----------------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_OPS_TD
#define TENON_DIALECTS_DNN_OPS_TD

include "DnnBase.td"
include "HandleOps.td"
include "ComputeOps.td"
include "MatmulOps.td"
include "AttentionOps.td"
include "MoeOps.td"
include "BufferOps.td"

#endif // TENON_DIALECTS_DNN_OPS_TD
