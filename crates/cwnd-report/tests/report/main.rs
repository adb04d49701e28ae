//! Reports from outside: what is on the page, what figures look like, and that nothing makes them fall over.

mod engines;
mod explanation;
mod figures;
mod live;
mod outline;
mod page;
mod paper;
mod properties;
mod stated;
mod synthetic;
