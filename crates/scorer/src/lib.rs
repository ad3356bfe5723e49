//! scorer
