// Holds the precompiled headers of MLIRHeaders.h; a library needs a source.
