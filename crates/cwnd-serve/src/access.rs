//! Who may use the server: the token, the cookie, and the checks of a request's `Host` and `Origin`.

use crate::refusal::Refusal;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use std::{
    fs,
    io::{ErrorKind, Write},
    net::IpAddr,
    path::Path,
};
use subtle::ConstantTimeEq;

/// Bytes of a token; the text has two digits for each.
const BYTES: usize = 32;

/// A secret that gives access: 64 hexadecimal digits.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Creates a token from the operating system's random numbers.
    ///
    /// # Errors
    /// If the operating system has none.
    pub fn random() -> Result<Token, String> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| format!("the system gives no random numbers: {error}"))?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Reads the token of a file; creates the file with a random token, readable by its owner alone, if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be read or created, others may read it, or its content is no token.
    pub fn of_file(path: &Path) -> Result<Token, String> {
        let at = |why: String| format!("--token-file {}: {why}", path.display());
        match crate::private_file::read(path) {
            Ok(text) => {
                let token = text.trim();
                let is_token = token.len() == 2 * BYTES && token.bytes().all(|b| b.is_ascii_hexdigit());
                if !is_token {
                    let digits = 2 * BYTES;
                    return Err(at(format!(
                        "it must hold {digits} hexadecimal digits; delete it to get a new one"
                    )));
                }
                Ok(Token(token.to_owned()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let token = Token::random()?;
                let mut file = crate::private_file::create(path).map_err(|error| at(error.to_string()))?;
                writeln!(file, "{}", token.0).map_err(|error| {
                    let _ = fs::remove_file(path);
                    at(error.to_string())
                })?;
                Ok(token)
            }
            Err(error) => Err(at(error.to_string())),
        }
    }

    /// Returns the token's text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns whether a text is the token. The time does not depend on where they differ.
    fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

/// What the server requires of each request.
pub struct Access {
    token: Token,
    port: u16,
    /// The name or address of `--host`.
    host: String,
}

/// How a request has shown that it may use the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// The address has the token: the response sets the cookie.
    Token,
    /// The cookie.
    Cookie,
}

impl Access {
    /// Creates the rules of a server at this host and port.
    pub fn new(token: Token, host: &str, port: u16) -> Access {
        Access { token, port, host: host.to_owned() }
    }

    /// Returns the `Set-Cookie` of the first page. Cookies do not distinguish ports, so its name does.
    pub fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.token.0)
    }

    fn cookie_name(&self) -> String {
        format!("cwnd-{}", self.port)
    }

    /// Checks a request before anything else looks at it.
    ///
    /// # Errors
    /// The `Host` is another (DNS rebinding), the `Origin` is another page's, or there is neither the token nor the cookie.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Shown, Refusal> {
        let host = one(headers, header::HOST).ok_or_else(|| {
            Refusal::new(StatusCode::BAD_REQUEST, "the request has no Host, or more than one")
        })?;
        if !self.is_ours(host) {
            let message = format!(
                "the Host `{}` is not this server's: use the address that `cwnd serve` printed",
                printable(host)
            );
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, &message));
        }
        self.check_origin(method, headers, host)?;
        let token = uri.query().into_iter().flat_map(|query| query.split('&'));
        let token = token.filter_map(|part| part.strip_prefix("token=")).next();
        if let Some(token) = token {
            return if self.token.is(token) {
                Ok(Shown::Token)
            } else {
                Err(self.unknown("the token is wrong"))
            };
        }
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut values = cookies.flat_map(|line| line.split(';')).filter_map(|cookie| {
            cookie.trim().split_once('=').filter(|(other, _)| *other == name).map(|(_, value)| value)
        });
        if values.any(|value| self.token.is(value)) {
            return Ok(Shown::Cookie);
        }
        Err(self.unknown("the request has no token"))
    }

    /// Only pages of this server may change anything, and other pages may not even ask: a request that names where it comes
    /// from must come from here.
    fn check_origin(&self, method: &Method, headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
        let foreign = |what: &str| {
            let message = format!("{what}: another page may not use this server");
            Err(Refusal::new(StatusCode::FORBIDDEN, &message))
        };
        if headers.contains_key(header::ORIGIN) {
            let expected = format!("http://{host}");
            if one(headers, header::ORIGIN).is_none_or(|origin| origin != expected) {
                return foreign("the Origin is not this server's");
            }
        } else if *method != Method::GET && *method != Method::HEAD {
            return foreign("the request changes something and has no Origin");
        }
        let site = one(headers, header::HeaderName::from_static("sec-fetch-site"));
        let target = one(headers, header::HeaderName::from_static("sec-fetch-dest"));
        match site {
            // A link in another page may open the page itself.
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) if target == Some("document") && *method == Method::GET => Ok(()),
            Some(_) => foreign("the browser says that the request comes from another site"),
        }
    }

    /// A name could be another's that leads here; addresses and `localhost` cannot.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse::<u16>().ok()),
            _ => (host, Some(80)),
        };
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_known = address.eq_ignore_ascii_case("localhost")
            || address.eq_ignore_ascii_case(&self.host)
            || address.parse::<IpAddr>().is_ok();
        is_known && port == Some(self.port)
    }

    fn unknown(&self, what: &str) -> Refusal {
        let message = format!(
            "{what}: open the address that `cwnd serve` printed, which ends in the token. After a restart the token is another, unless \
             --token-file keeps it"
        );
        Refusal::new(StatusCode::UNAUTHORIZED, &message)
    }
}

/// Returns the value of a header that is there once.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(method: Method, uri: &str, headers: &[(&'static str, &str)]) -> Result<Shown, u16> {
        let access = Access::new(Token("7".repeat(64)), "lab.example", 8000);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a valid value"));
        }
        access
            .check(&method, &uri.parse().expect("a valid URI"), &map)
            .map_err(|refusal| refusal.status.as_u16())
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:8000");

    fn cookie() -> String {
        format!("other=1; cwnd-8000={}", "7".repeat(64))
    }

    #[test]
    fn the_token_or_the_cookie_is_needed() {
        let with_token = format!("/?token={}", "7".repeat(64));
        assert_eq!(checked(Method::GET, &with_token, &[HOST]), Ok(Shown::Token));
        assert_eq!(checked(Method::GET, "/", &[HOST, ("cookie", &cookie())]), Ok(Shown::Cookie));
        for uri in ["/", "/?token=", "/?token=7", &format!("/?token={}8", "7".repeat(63)), "/?Token=7"] {
            assert_eq!(checked(Method::GET, uri, &[HOST]), Err(401), "{uri}");
        }
        let other_port = cookie().replace("cwnd-8000", "cwnd-8001");
        assert_eq!(checked(Method::GET, "/", &[HOST, ("cookie", &other_port)]), Err(401));
    }

    #[test]
    fn a_name_that_leads_here_is_not_this_server() {
        let cookie = cookie();
        for host in ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "192.168.1.7:8000", "LAB.example:8000"]
        {
            assert!(checked(Method::GET, "/", &[("host", host), ("cookie", &cookie)]).is_ok(), "{host}");
        }
        for host in [
            "evil.example:8000",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.evil.example:8000",
            "localhost:8000:8000",
        ] {
            assert_eq!(checked(Method::GET, "/", &[("host", host), ("cookie", &cookie)]), Err(421), "{host}");
        }
        assert_eq!(checked(Method::GET, "/", &[HOST, HOST, ("cookie", &cookie)]), Err(400));
    }

    #[test]
    fn another_page_may_not_use_the_server() {
        let cookie = cookie();
        let with = |headers: &[(&'static str, &str)], method| {
            checked(method, "/", &[&[HOST, ("cookie", cookie.as_str())][..], headers].concat())
        };
        let ours = ("origin", "http://127.0.0.1:8000");
        assert!(with(&[ours], Method::POST).is_ok());
        assert!(with(&[ours, ("sec-fetch-site", "same-origin")], Method::POST).is_ok());
        assert_eq!(with(&[], Method::POST), Err(403));
        for origin in ["http://evil.example", "http://127.0.0.1:8001", "https://127.0.0.1:8000", "null", ""] {
            assert_eq!(with(&[("origin", origin)], Method::POST), Err(403), "{origin}");
            assert_eq!(with(&[("origin", origin)], Method::GET), Err(403), "{origin}");
        }
        assert_eq!(
            with(&[("sec-fetch-site", "same-site"), ("sec-fetch-dest", "image")], Method::GET),
            Err(403)
        );
        assert!(
            with(&[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")], Method::GET).is_ok()
        );
    }

    #[test]
    fn tokens_differ() {
        let [one, other] = [(); 2].map(|()| Token::random().expect("the system has random numbers"));
        assert_eq!(one.text().len(), 64);
        assert!(one.is(one.text()) && !one.is(other.text()));
    }

    #[cfg(unix)]
    #[test]
    fn a_token_file_keeps_the_token_and_is_private() {
        use std::os::unix::fs::PermissionsExt;

        let path = std::env::temp_dir().join(format!("cwnd-serve-token-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let first = Token::of_file(&path).expect("it can be created");
        assert_eq!(fs::metadata(&path).expect("it exists").permissions().mode() & 0o777, 0o600);
        assert_eq!(Token::of_file(&path).expect("it can be read").text(), first.text());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert!(Token::of_file(&path).err().expect("others may read it").contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        fs::write(&path, "short\n").expect("it is ours");
        assert!(Token::of_file(&path).err().expect("it is no token").contains("64 hexadecimal digits"));
        fs::remove_file(&path).expect("it is ours");
    }
}
