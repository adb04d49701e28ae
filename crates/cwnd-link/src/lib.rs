//! Queues, loss models and transmitters.
