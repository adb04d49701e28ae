//! Databases whose tables compute something.

use super::*;

/// A view over an endless query would hang whoever reads it.
#[test]
fn a_store_whose_tables_compute_something_is_refused_and_not_asked() {
    const COLUMNS: &str =
        "1 AS id, 'a' AS name, '' AS text, 1 AS repeats, x'' AS keys, '' AS version, '' AS source_commit,
        '' AS command, sum(x) AS engine, 'paper' AS scale";
    let view = format!(
        "DROP TABLE study; CREATE VIEW study AS WITH RECURSIVE endless(x) AS (SELECT 1 UNION ALL SELECT 1 FROM endless)
         SELECT {COLUMNS} FROM endless"
    );
    let computed =
        "DROP TABLE runs; CREATE TABLE runs (key BLOB, state INTEGER AS (length(hex(key))))".to_owned();
    for (sql, table) in [(view, "study"), (computed, "runs"), ("DROP TABLE study".to_owned(), "study")] {
        let fixture = fixture();
        drop(fixture.store());
        let connection = Connection::open(fixture.directory.path().join(DATABASE)).unwrap();
        connection.execute_batch(&sql).unwrap();
        drop(connection);
        let reason =
            format!("its `{table}` is no ordinary table, so cwnd did not make it; choose another directory");
        assert_eq!(fixture.error(), (StoreErrorKind::Foreign, reason));
    }
}

/// A trigger would run with every row that is stored.
#[test]
fn triggers_of_a_store_do_not_run() {
    let fixture = fixture();
    drop(fixture.store());
    let connection = Connection::open(fixture.directory.path().join(DATABASE)).unwrap();
    let trigger = "CREATE TRIGGER wipe AFTER INSERT ON runs BEGIN DELETE FROM runs; END";
    connection.execute_batch(trigger).unwrap();
    drop(connection);
    let mut store = fixture.store();
    store.put(&fixture.done()).unwrap();
    assert!(matches!(fixture.state(&store), StoredState::Done { .. }));
}
