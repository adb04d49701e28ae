//! The files of the page: a fixed list, read once. A request selects one by name and never reaches the file system.

use axum::{
    body::Bytes,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The page that the server opens.
pub const PAGE: &str = "serve.html";
/// More than the page has.
const MOST_FILES: usize = 1_000;
/// The largest file, bytes.
const MOST_BYTES: u64 = 32 << 20;

/// The files of the page by their paths.
pub struct Assets(BTreeMap<String, Bytes>);

impl Assets {
    /// Reads the files of a directory, or takes those in the program, or else reads `web/dist` of a checkout at or above the working
    /// directory.
    ///
    /// # Errors
    /// If the directory has no `serve.html`, or there is no page at all.
    pub fn find(directory: Option<&Path>) -> Result<Assets, String> {
        if let Some(directory) = directory {
            return Assets::read(directory).map_err(|why| format!("--web {}: {why}", directory.display()));
        }
        if !EMBEDDED.is_empty() {
            let files = EMBEDDED.iter().map(|(name, bytes)| ((*name).to_owned(), Bytes::from_static(bytes)));
            return Ok(Assets(files.collect()));
        }
        let here = std::env::current_dir().unwrap_or_default();
        let dist = here.ancestors().map(|above| above.join("web/dist")).find(|dist| dist.join(PAGE).exists());
        match dist {
            Some(dist) => Assets::read(&dist).map_err(|why| format!("{}: {why}", dist.display())),
            None => Err("this program has no web page in it, and there is no `web/dist` here: build the page with `cargo xtask web` \
                         in a checkout of cwnd, or name its directory with --web"
                .to_owned()),
        }
    }

    fn read(directory: &Path) -> Result<Assets, String> {
        if !directory.join(PAGE).is_file() {
            return Err(format!(
                "there is no `{PAGE}` in it: it must be the directory that `cargo xtask web` writes, `web/dist`"
            ));
        }
        let mut files = BTreeMap::new();
        collect(directory, "", &mut files).map_err(|error| error.to_string())?;
        Ok(Assets(files))
    }

    /// Returns the response for the path of a request; the path `/` is the page.
    pub fn response(&self, path: &str) -> Option<Response> {
        let name = path.strip_prefix('/')?;
        let name = if name.is_empty() { PAGE } else { name };
        let content = self.0.get(name)?.clone();
        let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)))];
        Some((StatusCode::OK, headers, content).into_response())
    }
}

/// Reads the regular files under a directory. Links are not followed.
fn collect(directory: &Path, prefix: &str, files: &mut BTreeMap<String, Bytes>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let (kind, path): (_, PathBuf) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), files)?;
        } else if kind.is_file() {
            if files.len() >= MOST_FILES || entry.metadata()?.len() > MOST_BYTES {
                let why = format!("`{name}` is too much: a page has at most {MOST_FILES} files of 32 MB");
                return Err(io::Error::other(why));
            }
            files.insert(name, fs::read(path)?.into());
        }
    }
    Ok(())
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
