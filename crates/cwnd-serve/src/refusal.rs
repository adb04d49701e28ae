//! Responses that refuse a request: a status, what is wrong, and what would be valid.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use cwnd_wasm::LineProblem;
use serde::Serialize;

/// Why a request is refused.
#[derive(Debug)]
pub struct Refusal {
    /// The response's status.
    pub status: StatusCode,
    message: String,
    problems: Vec<Problem>,
}

/// Something wrong with a line of a setting.
#[derive(Debug, Serialize)]
struct Problem {
    line: usize,
    key: String,
    message: String,
}

#[derive(Serialize)]
struct Document {
    message: String,
    problems: Vec<Problem>,
}

impl Refusal {
    /// Creates a refusal with a message.
    pub fn new(status: StatusCode, message: &str) -> Refusal {
        Refusal { status, message: message.to_owned(), problems: Vec::new() }
    }

    /// Creates the refusal of what cannot begin while something else runs.
    pub fn conflict(message: &str) -> Refusal {
        Refusal::new(StatusCode::CONFLICT, message)
    }

    /// Creates the refusal of what this machine cannot do.
    pub fn unavailable(message: &str) -> Refusal {
        Refusal::new(StatusCode::NOT_IMPLEMENTED, message)
    }

    /// Creates the response to a request that failed here.
    pub fn broken(message: &str) -> Refusal {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// Creates the refusal of a setting of a run.
    pub fn setting(problems: &[LineProblem]) -> Refusal {
        let problem = |one: &LineProblem| Problem {
            line: one.line,
            key: one.key.clone(),
            message: one.message.clone(),
        };
        Refusal {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            message: "this cannot run".to_owned(),
            problems: problems.iter().map(problem).collect(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(Document { message: self.message, problems: self.problems })).into_response()
    }
}
