BEGIN;
CREATE TABLE schema_versions (area TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
INSERT INTO "schema_versions" VALUES ('log', 2);
INSERT INTO "schema_versions" VALUES ('outbox', 2);
INSERT INTO "schema_versions" VALUES ('state', 1);
INSERT INTO "schema_versions" VALUES ('archive', 1);
CREATE TABLE log_index (one INTEGER PRIMARY KEY CHECK (one = 1), side TEXT NOT NULL, given_to INTEGER NOT NULL DEFAULT 0, accepted_to INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "log_index" VALUES (1, 'a', 0, 0);
CREATE TABLE log_block_a (
      first_seq INTEGER PRIMARY KEY,
      last_seq INTEGER NOT NULL,
      first_time INTEGER NOT NULL,
      last_time INTEGER NOT NULL,
      file TEXT NOT NULL,
      start INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT;
INSERT INTO "log_block_a" VALUES (1, 10, 1767323045000, 1767323045000, '2026-01.jsonl', 0, X'00000000000000000000000017010000010000001801000000000000300200000200000049030000000000003e0100000300000088040000000000002f01000004000000b8050000000000002401000005000000dd060000000000002b010000060000000908000000000000280100000700000032090000000000002a010000080000005d0a0000000000003801000009000000960b0000000000000e010000');
CREATE TABLE log_posting_a (
      term INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      lines BLOB NOT NULL,
      PRIMARY KEY (term, first_seq)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "log_posting_a" VALUES (253987836427413, 1, X'0100020003000400050006000900');
INSERT INTO "log_posting_a" VALUES (1459198765496167, 1, X'0300');
INSERT INTO "log_posting_a" VALUES (1588519728980430, 1, X'0500');
INSERT INTO "log_posting_a" VALUES (2318845297823480, 1, X'0200');
INSERT INTO "log_posting_a" VALUES (2748548831891740, 1, X'0700');
INSERT INTO "log_posting_a" VALUES (3220110140299042, 1, X'0000010002000300040005000600');
INSERT INTO "log_posting_a" VALUES (5273657721385958, 1, X'0400');
INSERT INTO "log_posting_a" VALUES (5550835014252372, 1, X'0100');
INSERT INTO "log_posting_a" VALUES (7182521609773908, 1, X'0000');
INSERT INTO "log_posting_a" VALUES (7587984301237920, 1, X'0800');
INSERT INTO "log_posting_a" VALUES (8541387136463387, 1, X'0900');
INSERT INTO "log_posting_a" VALUES (8619430013365761, 1, X'0600');
CREATE TABLE log_delivery_a (
      hash INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (hash, seq)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_delivery_run_a (first_seq INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;
CREATE TABLE log_topic_a (topic TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO "log_topic_a" VALUES ('agent.message');
INSERT INTO "log_topic_a" VALUES ('agent.session.ended');
INSERT INTO "log_topic_a" VALUES ('agent.session.started');
INSERT INTO "log_topic_a" VALUES ('agent.turn.ended');
INSERT INTO "log_topic_a" VALUES ('agent.turn.started');
INSERT INTO "log_topic_a" VALUES ('orchestrator.run.started');
INSERT INTO "log_topic_a" VALUES ('orchestrator.worker.status_changed');
INSERT INTO "log_topic_a" VALUES ('session.ended');
INSERT INTO "log_topic_a" VALUES ('session.running');
INSERT INTO "log_topic_a" VALUES ('tracker.issue.created');
CREATE TABLE log_relay_a (
      channel TEXT PRIMARY KEY,
      id TEXT NOT NULL,
      seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_block_b (
      first_seq INTEGER PRIMARY KEY,
      last_seq INTEGER NOT NULL,
      first_time INTEGER NOT NULL,
      last_time INTEGER NOT NULL,
      file TEXT NOT NULL,
      start INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT;
CREATE TABLE log_posting_b (
      term INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      lines BLOB NOT NULL,
      PRIMARY KEY (term, first_seq)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_delivery_b (
      hash INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (hash, seq)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_delivery_run_b (first_seq INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;
CREATE TABLE log_topic_b (topic TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE log_relay_b (
      channel TEXT PRIMARY KEY,
      id TEXT NOT NULL,
      seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE TABLE outbox_effect (
    key TEXT PRIMARY KEY NOT NULL,
    seq INTEGER NOT NULL,
    -- The place among the effects of its line.
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    order_key TEXT,
    payload TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'given-up')),
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    outcome TEXT,
    -- 1 from giving up until the attention for it is in the log.
    unsent INTEGER NOT NULL
  ) STRICT;
INSERT INTO "outbox_effect" VALUES ('17:move-ticket:ENG-1', 17, 0, 'move-ticket', 'move-ticket:ENG-1', '{"key":"17:move-ticket:ENG-1","seq":17,"kind":"move-ticket","ticket":"ENG-1","phase":"inProgress"}', 'done', 1, 1794856768496, NULL, 1794856768496, 1794856768499, 'skipped: its project has no API token for the issue tracker. Store one: svc config set svc.tracker.apiToken - < token.txt', 0);
INSERT INTO "outbox_effect" VALUES ('18:notify:run-1/ENG-1/look-here', 18, 0, 'notify', NULL, '{"key":"18:notify:run-1/ENG-1/look-here","seq":18,"kind":"notify","attention":"run-1/ENG-1/look-here","reason":"look-here","severity":"high","message":"Look.","remedy":null}', 'done', 1, 1794856768582, NULL, 1794856768582, 1794856768584, 'no notifier is configured', 0);
CREATE TABLE outbox_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT;
INSERT INTO "outbox_cursor" VALUES (1, 18);
CREATE TABLE state_snapshots (
     seq INTEGER PRIMARY KEY, at TEXT NOT NULL, line_id TEXT NOT NULL, version TEXT NOT NULL,
     pieces INTEGER NOT NULL, bytes INTEGER NOT NULL
   ) STRICT;
CREATE TABLE state_pieces (
     seq INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (seq, piece)
   ) STRICT;
CREATE TABLE archive_runs (
     root TEXT NOT NULL,
     orchestrator TEXT NOT NULL,
     archived_at TEXT NOT NULL,
     state TEXT NOT NULL,
     files INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     stored_bytes INTEGER NOT NULL,
     manifest_sha256 TEXT NOT NULL,
     scanned_seq INTEGER NOT NULL,
     pruned_at TEXT,
     PRIMARY KEY (root, orchestrator)
   ) STRICT, WITHOUT ROWID;
INSERT INTO "archive_runs" VALUES ('/tmp/svc-data-fixture/svc/archives', 'run-1', '2026-11-16T19:19:34.512Z', 'completed', 6, 4992, 4992, '7f393a70eaeae63a09801a8cdd0084aaa3b3d7fd0f82844b0dcd337b85783d27', 171, NULL);
CREATE TABLE archive_files (
     root TEXT NOT NULL,
     orchestrator TEXT NOT NULL,
     path TEXT NOT NULL,
     size INTEGER NOT NULL,
     sha256 TEXT NOT NULL,
     identity TEXT,
     PRIMARY KEY (root, orchestrator, path)
   ) STRICT, WITHOUT ROWID;
INSERT INTO "archive_files" VALUES ('/tmp/svc-data-fixture/svc/archives', 'run-1', 'events.jsonl', 4462, '59cdac560a3b8897ca6436c6cbc256e36c1e476d7597e641f29dc3a827286da1', NULL);
INSERT INTO "archive_files" VALUES ('/tmp/svc-data-fixture/svc/archives', 'run-1', 'run/summary.md', 8, 'd233b68495297597516d9c02ae24360076553c8025e72eecf015676534a7f282', '65024:2498849:8:1794856760306048957:1794856760306048957');
INSERT INTO "archive_files" VALUES ('/tmp/svc-data-fixture/svc/archives', 'run-1', 'run/workers/ENG-1.json', 240, '1cfe0f01aca2d85a6382a4b426f7e451b36b2d8eb165b5d6236631117d728e85', '65024:2498834:240:1794856760303644698:1794856760303644698');
INSERT INTO "archive_files" VALUES ('/tmp/svc-data-fixture/svc/archives', 'run-1', 'run/workers/output/ENG-1.1.agent.json', 148, '57d55b5d3ca1b2fe497f77a08807fae5d5656c2383961ee864f619f06b3652a6', '65024:2498882:148:1794856760306048957:1794856760306048957');
INSERT INTO "archive_files" VALUES ('/tmp/svc-data-fixture/svc/archives', 'run-1', 'run/workers/output/ENG-1.1.journal.jsonl', 56, '801f1d116909c027b23e8e30df522e28f5784facba795643409f94b6f6be34f3', '65024:2498913:56:1794856760306410397:1794856760306410397');
INSERT INTO "archive_files" VALUES ('/tmp/svc-data-fixture/svc/archives', 'run-1', 'run/workers/output/ENG-1.1.sent.jsonl', 78, '75ee35f3635e6b6183d7a52b2bbe109b86ff8d45f81c35edea19bad22fd9da3b', '65024:2498897:78:1794856760306308143:1794856760306308143');
CREATE INDEX log_block_time_a ON log_block_a (last_time);
CREATE INDEX log_block_time_b ON log_block_b (last_time);
CREATE INDEX outbox_order ON outbox_effect (order_key, seq, position) WHERE state = 'pending';
CREATE INDEX outbox_next ON outbox_effect (next_at) WHERE state = 'pending';
CREATE INDEX outbox_state ON outbox_effect (state, seq, position);
CREATE INDEX outbox_unsent ON outbox_effect (seq, position) WHERE unsent = 1;
COMMIT;
