//! Stores, and studies that start, stop, end with the server and continue.

use crate::server::{Server, command};
use cwnd_study::Results;
use std::{
    fs,
    time::{Duration, Instant},
};

/// Waits for an event of the progress.
#[track_caller]
fn wait(server: &Server, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let mut events = server.stream("/api/progress", None);
    let begin = Instant::now();
    loop {
        let event = events.event();
        if wanted(&event) {
            return event;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "the last event is {event}");
    }
}

fn runs_done(server: &Server) -> u64 {
    server.get("/api/stores").json()[0]["done"].as_u64().expect("a number")
}

#[test]
fn a_study_starts_stops_and_continues() {
    let server = Server::start();
    let listed = server.get("/api/stores").json();
    assert_eq!(listed[0]["title"], "A study of <b>some</b> seconds");
    assert_eq!((&listed[0]["runs"], &listed[0]["done"]), (&400.into(), &0.into()));
    assert_eq!(server.get("/api/stores/0/report").status, 404);
    assert_eq!(server.post("/api/stores/0/stop", "").status, 409);

    assert_eq!(server.post("/api/stores/0/start", "").status, 202);
    assert_eq!(server.post("/api/stores/0/start", "").status, 409, "it is on");
    wait(&server, |event| event["stored"].as_u64() > Some(0));
    assert_eq!(server.post("/api/stores/0/stop", "").status, 202);
    let stopped = wait(&server, |event| event["phase"] == "stopped");
    let done = runs_done(&server);
    assert!(0 < done && done < 400, "{done} runs: {stopped}");

    assert_eq!(server.post("/api/stores/0/start", "").status, 202);
    let ended = wait(&server, |event| event["phase"] == "done" || event["phase"] == "failed");
    assert_eq!(ended["phase"], "done", "{ended}");
    assert_eq!(ended["total"].as_u64(), Some(400 - done), "what was stored was not run again");
    assert_eq!(runs_done(&server), 400);
    let detail = server.get("/api/stores/0").json();
    assert_eq!(detail["claims"][0]["verdict"], "reproduced", "{detail}");
    assert_eq!(detail["command"], "cwnd run study.toml");

    let report = server.get("/api/stores/0/report");
    assert_eq!(report.status, 200);
    assert!(report.head.contains("content-security-policy: sandbox allow-scripts"), "{}", report.head);
    assert!(
        report.text().contains("A study of &lt;b&gt;some&lt;/b&gt; seconds"),
        "the study's text is escaped"
    );
    assert!(server.directory.path().join("results/study/report.html").exists());
}

#[test]
fn a_changed_study_file_is_run_as_it_is_now() {
    let server = Server::start();
    let run = || {
        assert_eq!(server.post("/api/stores/0/start", "").status, 202);
        wait(&server, |event| event["phase"] == "done" || event["phase"] == "failed")
    };
    assert_eq!(run()["phase"], "done");
    let listed = || server.get("/api/stores").json()[0].clone();
    assert_eq!((&listed()["done"], &listed()["changed"]), (&400.into(), &serde_json::Value::Null));

    let file = server.directory.path().join("study.toml");
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.replace("repeats = 200", "repeats = 201");
    assert_ne!(changed, text);
    fs::write(&file, changed).unwrap();
    assert_eq!((&listed()["runs"], &listed()["changed"]), (&400.into(), &"study.toml".into()));
    let ended = run();
    assert_eq!((&ended["phase"], &ended["total"]), (&"done".into(), &2.into()), "{ended}");
    assert_eq!((&listed()["done"], &listed()["changed"]), (&402.into(), &serde_json::Value::Null));
}

#[test]
fn a_changed_study_file_is_run_with_the_options_of_the_runs_before() {
    let server = Server::start();
    let directory = server.directory.path();
    let ran = command(directory)
        .args(["run", "study.toml", "--repeats", "3", "--quiet"])
        .output()
        .expect("cwnd runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let listed = || server.get("/api/stores").json()[0].clone();
    assert_eq!((&listed()["done"], &listed()["runs"]), (&6.into(), &6.into()));

    let file = directory.join("study.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"newreno\"]", "\"newreno\", \"vegas\"]")).unwrap();
    assert_eq!(listed()["changed"], "study.toml");
    assert_eq!(server.post("/api/stores/0/start", "").status, 202);
    let ended = wait(&server, |event| event["phase"] == "done" || event["phase"] == "failed");
    assert_eq!((&ended["phase"], &ended["total"]), (&"done".into(), &3.into()), "{ended}");
    assert_eq!((&listed()["done"], &listed()["runs"]), (&9.into(), &9.into()));
    assert_eq!(server.get("/api/stores/0").json()["command"], "cwnd run study.toml --repeats 3");
}

#[test]
fn a_server_that_is_killed_leaves_a_store_that_continues() {
    let server = Server::start();
    assert_eq!(server.post("/api/stores/0/start", "").status, 202);
    wait(&server, |event| event["stored"].as_u64() > Some(0));
    let token = server.token.clone();
    let server = server.killed_and_started();
    assert_eq!(server.token, token, "pages keep their access");
    let done = runs_done(&server);
    assert!(0 < done && done < 400, "{done} runs");
    assert_eq!(server.post("/api/stores/0/start", "").status, 202);
    let ended = wait(&server, |event| event["phase"] == "done" || event["phase"] == "failed");
    assert_eq!((&ended["phase"], ended["total"].as_u64()), (&"done".into(), Some(400 - done)));

    // The command's own results of the same study are the same to the bit.
    let directory = server.directory.path();
    let ran = command(directory)
        .args(["run", "study.toml", "--out", "other", "--quiet"])
        .output()
        .expect("cwnd runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let [one, other] =
        ["results/study", "other"].map(|name| Results::load(&directory.join(name)).expect("it is complete"));
    assert_eq!(one.runs.len(), 400);
    assert_eq!(one.runs, other.runs);
}

#[cfg(unix)]
#[test]
fn the_server_ends_with_its_study_stored() {
    let server = Server::start();
    assert_eq!(server.post("/api/stores/0/start", "").status, 202);
    wait(&server, |event| event["stored"].as_u64() > Some(0));
    let id = server.id().to_string();
    let told = std::process::Command::new("kill").args(["-TERM", &id]).status().expect("there is a kill");
    assert!(told.success());
    let server = server.ended_and_started();
    let done = runs_done(&server);
    assert!(0 < done && done < 400, "{done} runs");
}

#[test]
fn directories_and_files_that_are_none_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(directory.path().join("dist")).expect("written");
    fs::write(directory.path().join("dist/serve.html"), "").expect("written");
    fs::create_dir(directory.path().join("empty")).expect("written");
    fs::write(directory.path().join("file.txt"), "").expect("written");
    fs::write(directory.path().join("bad.toml"), "title = 1").expect("written");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    for (arguments, wanted) in [
        (&["empty"][..], "there are no results in this directory; `cwnd run STUDY --out empty`"),
        (&["missing"], "`missing`: there is no such directory or study file"),
        (&["file.txt"], "neither a directory of results nor a study file"),
        (&["bad.toml"], "bad.toml:1"),
        (&["--port", &port], &format!("--port {port}: another program uses it; choose another port")),
        (&["--host", "198.51.100.7"], "this machine does not have this address"),
        (&["--web", "empty"], "there is no `serve.html` in it"),
    ] {
        let mut serve = command(directory.path());
        serve.arg("serve").args(arguments);
        if !arguments.contains(&"--web") {
            serve.args(["--web", "dist"]);
        }
        let refused = serve.output().expect("cwnd ends");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}
