//! What others than the page send: other tabs, other programs of this machine.

use crate::{
    http::{Connection, exchange},
    server::Server,
};
use std::{
    io::Write,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

#[test]
fn without_the_token_nothing_is_served() {
    let server = Server::start();
    let port = server.port;
    let wrong = "0".repeat(64);
    let request = |method: &str, path: &str, headers: &str| {
        exchange(
            port,
            format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n").as_bytes(),
        )
    };
    for path in ["/", "/serve.html", "/assets/page.js", "/api/stores", "/api/kernel", "/nothing"] {
        for headers in [
            String::new(),
            format!("Cookie: cwnd-{port}={wrong}\r\n"),
            format!("Cookie: {}\r\n", server.token),
        ] {
            let refused = request("GET", path, &headers);
            assert_eq!(refused.status, 401, "{path} {headers}");
            assert!(!refused.head.contains("set-cookie"), "{}", refused.head);
            assert!(refused.text().contains("cwnd serve"), "{}", refused.text());
        }
        assert_eq!(request("GET", &format!("{path}?token={wrong}"), "").status, 401);
    }
    let first = request("GET", &format!("/serve.html?token={}", server.token), "");
    assert_eq!(first.status, 200);
    let cookie = format!("set-cookie: cwnd-{port}={}; httponly; samesite=strict; path=/\r\n", server.token);
    assert!(first.head.contains(&cookie), "{}", first.head);
    // A token in the address does not replace the right origin.
    let start = format!("/api/stores/0/start?token={}", server.token);
    assert_eq!(request("POST", &start, "").status, 403);
    assert_eq!(server.get("/api/stores").json()[0]["done"], 0);
}

#[test]
fn every_response_has_the_headers_that_bound_a_page() {
    let server = Server::start();
    let unknown = exchange(server.port, b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    for response in [
        server.get("/"),
        server.get("/assets/page.js"),
        server.get("/api/stores"),
        server.get("/no"),
        unknown,
    ] {
        let head = &response.head;
        let policy =
            head.lines().find_map(|line| line.strip_prefix("content-security-policy: ")).expect("a policy");
        let scripts =
            policy.split("; ").find(|part| part.starts_with("script-src")).expect("scripts are bounded");
        assert_eq!(scripts, "script-src 'self' 'wasm-unsafe-eval'");
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(
            head.contains("x-content-type-options: nosniff") && head.contains("referrer-policy: no-referrer"),
            "{head}"
        );
        assert!(head.contains("cache-control: no-store") && !head.contains("access-control-allow"), "{head}");
    }
}

#[test]
fn another_page_and_another_name_are_refused() {
    let server = Server::start();
    let (port, token) = (server.port, &server.token);
    let cookie = format!("Cookie: cwnd-{port}={token}\r\n");
    let request = |method: &str, headers: &str| {
        let path = if method == "POST" { "/api/stores/0/start" } else { "/api/stores" };
        exchange(port, format!("{method} {path} HTTP/1.1\r\n{cookie}{headers}\r\n").as_bytes()).status
    };
    for host in
        ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1", "localhost:1", "[::1]"]
    {
        assert_eq!(request("GET", &format!("Host: {host}\r\n")), 421, "{host}");
    }
    assert_eq!(request("GET", &format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")), 400);
    assert_eq!(request("GET", ""), 400);
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://"] {
        assert_eq!(request("POST", &format!("{host}Origin: {origin}\r\n")), 403, "{origin}");
        assert_eq!(request("GET", &format!("{host}Origin: {origin}\r\n")), 403, "{origin}");
    }
    assert_eq!(request("POST", &host), 403);
    assert_eq!(request("GET", &format!("{host}Sec-Fetch-Site: same-site\r\nSec-Fetch-Dest: image\r\n")), 403);
    assert_eq!(request("GET", &format!("{host}Sec-Fetch-Site: same-origin\r\n")), 200);
    assert_eq!(server.get("/api/stores").json()[0]["done"], 0, "nothing was started");
}

#[test]
fn bodies_and_heads_are_bounded() {
    let server = Server::start();
    let head = format!("POST /api/simulation HTTP/1.1\r\n{}", server.headers());
    // A body that says how large it is, and one that does not.
    let large = [head.as_bytes(), b"Content-Length: 8000000\r\n\r\n", &vec![b'x'; 8_000_000]].concat();
    let endless: Vec<u8> = [head.as_bytes(), b"Transfer-Encoding: chunked\r\n\r\n"]
        .concat()
        .into_iter()
        .chain(
            std::iter::repeat_n(b"10000\r\n".iter().chain([b'x'; 0x10000].iter()).chain(b"\r\n"), 100)
                .flatten()
                .copied(),
        )
        .collect();
    for request in [large, endless] {
        // The server may close while the body is still sent; then no response arrives.
        if let Ok(refused) = Connection::open(server.port, &request) {
            assert_eq!(refused.status, 413);
        }
        assert_eq!(server.get("/api/stores").status, 200, "it still serves");
    }
    let most = server.post("/api/simulation", &"x\n".repeat(32 << 10));
    assert_eq!(most.status, 422, "65,536 bytes are read, and are no setting");
    assert_eq!(server.post("/api/simulation", &"x".repeat((64 << 10) + 1)).status, 413);
    let long = format!("GET /{} HTTP/1.1\r\n{}\r\n", "a".repeat(100_000), server.headers());
    assert!(
        Connection::open(server.port, long.as_bytes())
            .is_ok_and(|refused| (400..500).contains(&refused.status))
    );
    let bomb = "flow=cubic; count=100000\n".repeat(2600);
    let refused = server.post("/api/simulation", &bomb);
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains("100000 are the most"), "{}", refused.text());
}

#[test]
fn a_run_that_needs_too_much_memory_is_refused() {
    let server = Server::start_with(&["--memory", "20 MB"]);
    let small = "rate=10 Mbit/s\nduration=1 s\nflow=cubic";
    assert_eq!(server.post("/api/simulation", small).status, 200);
    let refused = server.post("/api/simulation", &format!("{small}; count=10000"));
    assert_eq!(refused.status, 413);
    assert!(refused.text().contains("20.0 MB may be used (as --memory states)"), "{}", refused.text());
}

#[test]
fn no_address_reaches_a_file_beyond_the_page() {
    let server = Server::start();
    for path in [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/..%5csecret.txt",
        "//secret.txt",
        "/./secret.txt",
        "/secret.txt",
        "/link.txt",
        "/assets",
        "/assets/",
        "/serve.html/../../secret.txt",
        "/serve.html%00.txt",
        "/etc/passwd",
        "/token",
        "/api/stores/../../secret.txt",
        "/api/stores/..%2f..%2fsecret.txt/report",
        "/api/stores/-1",
        "/api/stores/1",
        "/api/stores/18446744073709551616/report",
        "/api/stores/0/../../secret.txt",
    ] {
        let refused = server.get(path);
        assert!((400..500).contains(&refused.status), "{path}: {}", refused.status);
        assert!(!refused.text().contains("the secret") && !refused.text().contains(&server.token), "{path}");
    }
    // The API answers in JSON, whatever stands for a store.
    for number in ["x", "-1", "1"] {
        let refused = server.get(&format!("/api/stores/{number}"));
        let document: serde_json::Value = serde_json::from_slice(&refused.body).expect(number);
        assert!(
            document["message"].as_str().is_some_and(|why| why.contains("store")),
            "{number}: {document}"
        );
    }
    // A setting that names a file does not read it.
    let refused = server.post("/api/simulation", "flow=cubic\nrate-trace=secret.txt");
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("does not read the file `secret.txt`"), "{}", refused.text());
    let refused = server.post("/api/simulation", "flow=policy:file=secret.txt");
    assert_eq!(refused.status, 422, "{}", refused.text());
}

#[test]
fn a_thousand_requests_are_served() {
    const THREADS: usize = 8;
    let server = Server::start();
    let before = memory_kb(server.id());
    let begin = Instant::now();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for request in 0..1000 / THREADS {
                    let path = if request % 2 == 0 { "/api/stores" } else { "/serve.html" };
                    assert_eq!(server.get(path).status, 200);
                }
            });
        }
    });
    let (took, after) = (begin.elapsed(), memory_kb(server.id()));
    println!("1,000 requests in {:.2} s; memory {before} KB before, {after} KB after", took.as_secs_f64());
    assert!(after < before + 50_000, "{before} KB before, {after} KB after");
}

#[test]
fn connections_that_send_nothing_do_not_keep_others_out() {
    let server = Server::start();
    let idle: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("the system takes it");
            stream.write_all(b"GET / HTTP/1.1\r\nHost:").expect("it is connected");
            stream
        })
        .collect();
    // There are 128 places, and a head may take 10 s.
    let begin = Instant::now();
    assert_eq!(server.get("/api/stores").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(30), "it took {:?}", begin.elapsed());
    drop(idle);
}

/// The memory that a process has, KB; 0 where the system does not tell it.
fn memory_kb(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
