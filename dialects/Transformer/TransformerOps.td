//===- TransformerOps.td - Every op of the dialect ---------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_OPS_TD
#define TENON_DIALECTS_TRANSFORMER_OPS_TD

include "TransformerBase.td"
include "ModelOps.td"
include "EmbeddingOps.td"
include "NormOps.td"
include "FeedForwardOps.td"
include "AttentionOps.td"
include "LatentOps.td"
include "MoeOps.td"
include "HeadOps.td"
include "FusedOps.td"

#endif // TENON_DIALECTS_TRANSFORMER_OPS_TD
