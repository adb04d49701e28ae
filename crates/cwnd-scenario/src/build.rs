//! Builders of common networks.
