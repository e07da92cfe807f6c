BEGIN;
CREATE TABLE log_block_a (
      first_seq INTEGER PRIMARY KEY,
      last_seq INTEGER NOT NULL,
      first_time INTEGER NOT NULL,
      last_time INTEGER NOT NULL,
      file TEXT NOT NULL,
      start INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT;
INSERT INTO "log_block_a" VALUES(1,36,1794818278961,1794818288562,'2026-11.jsonl',0,X'000000000000000000000000ED01000001000000EE010000B70100001D010000020000000C030000CB0100005D010000030000006A040000CB0100006E01000004000000D9050000BB0500003C0300000500000016090000FD0700006F03000006000000860C00008308000007040000070000008E1000000F090000FB020000080000008A130000440900002503000009000000B016000050090000870200000A0000003819000050090000FC0200000B000000351C000053090000030500000C000000392100006A090000270300000D0000006124000089090000890200000E000000EB26000089090000FC0200000F000000E8290000920900002703000010000000102D0000A4090000A402000011000000B52F0000020A00002902000012000000DF310000020A00000E02000013000000EE330000310A00003D020000140000002C360000440A0000A805000015000000D53B00007A0A0000F002000016000000C63E00007D0A0000C3020000170000008A410000910A00003D02000018000000C8430000AF0A00000606000019000000CF490000EF0A0000A70600001A00000077500000510B0000340500001B000000AC550000401900008B0100001C0000003857000045190000230200001D0000005C590000631900009F0100001E000000FC5A00007C190000D70100001F000000D45C0000821900004C01000020000000215E00008C1900006601000021000000885F0000961900002501000022000000AE600000C61900009C030000230000004B640000812500001E010000');
CREATE TABLE log_block_b (
      first_seq INTEGER PRIMARY KEY,
      last_seq INTEGER NOT NULL,
      first_time INTEGER NOT NULL,
      last_time INTEGER NOT NULL,
      file TEXT NOT NULL,
      start INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT;
CREATE TABLE log_delivery_a (
      hash INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (hash, seq)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_delivery_b (
      hash INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (hash, seq)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_delivery_run_a (first_seq INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;
INSERT INTO "log_delivery_run_a" VALUES(1,X'86BCF27CEB7A33430000000000001840DD208359DBD83D43000000000000184096C56F5C5C8234430000000000001C40E0AA0A35BC0A00430000000000001C407579BA38C2943B4300000000000020407EDA563561412E430000000000002040AE03D8F296F13A430000000000002240809EB64401453A430000000000002440556FBB7F9F7A344300000000000026401ACD583ECDB239430000000000002640C283841A256833430000000000002A405EECD28C648324430000000000002C40BA40C554C50533430000000000002E404F3F0C83C8D83C430000000000002E40F4136EEE7C763C430000000000003040FEEE7AE0BDD7374300000000000031407EF0B484BE4D334300000000000032403466B48533F62743000000000000344030A87F2A125A1F430000000000003840C2A0E04E36E220430000000000003D40CC1F226E12BB28430000000000003F40');
CREATE TABLE log_delivery_run_b (first_seq INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;
CREATE TABLE log_index (one INTEGER PRIMARY KEY CHECK (one = 1), side TEXT NOT NULL, given_to INTEGER NOT NULL DEFAULT 0, accepted_to INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "log_index" VALUES(1,'a',0,0);
CREATE TABLE log_posting_a (
      term INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      lines BLOB NOT NULL,
      PRIMARY KEY (term, first_seq)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "log_posting_a" VALUES(187639047410557,1,X'160017001D001E002200');
INSERT INTO "log_posting_a" VALUES(257741671396787,1,X'15001B001C001F002000');
INSERT INTO "log_posting_a" VALUES(463733483303926,1,X'160017001D001E002200');
INSERT INTO "log_posting_a" VALUES(986401074358260,1,X'1B00');
INSERT INTO "log_posting_a" VALUES(1306577866478827,1,X'0000');
INSERT INTO "log_posting_a" VALUES(1479776304630183,1,X'07000A000E00');
INSERT INTO "log_posting_a" VALUES(1998005909529737,1,X'110013001E00');
INSERT INTO "log_posting_a" VALUES(2192492230119744,1,X'040005000600080009000B000C000D000F0010001100120013001400180019001A00');
INSERT INTO "log_posting_a" VALUES(2709362560305156,1,X'09000D00100017001C00');
INSERT INTO "log_posting_a" VALUES(2935683463373579,1,X'160017001D001E002200');
INSERT INTO "log_posting_a" VALUES(3065395535798017,1,X'15001B001C00');
INSERT INTO "log_posting_a" VALUES(3163786027671631,1,X'1200');
INSERT INTO "log_posting_a" VALUES(3220110140299042,1,X'0400080009000B000C000D000F0010001100120013001400150016001700180019001A001B001C001D001E001F0020002200');
INSERT INTO "log_posting_a" VALUES(3749357133008824,1,X'070008001400');
INSERT INTO "log_posting_a" VALUES(3774177799341921,1,X'0A000C001800');
INSERT INTO "log_posting_a" VALUES(3778593531468420,1,X'2000');
INSERT INTO "log_posting_a" VALUES(3781681090431190,1,X'0E000F0019001A00');
INSERT INTO "log_posting_a" VALUES(4009719207698719,1,X'040005000600080009000B000C000D000F0010001100120013001400180019001A00');
INSERT INTO "log_posting_a" VALUES(4281155016665922,1,X'160017001D001E002200');
INSERT INTO "log_posting_a" VALUES(4500716789036482,1,X'0100');
INSERT INTO "log_posting_a" VALUES(5208473503181116,1,X'0400080009000B000C000D000F0010001100120013001400180019001A00');
INSERT INTO "log_posting_a" VALUES(5550835014252372,1,X'04000B001400150016001A00');
INSERT INTO "log_posting_a" VALUES(5988787977689710,1,X'180019002200');
INSERT INTO "log_posting_a" VALUES(6141244455909010,1,X'2300');
INSERT INTO "log_posting_a" VALUES(6159650191209628,1,X'02000300');
INSERT INTO "log_posting_a" VALUES(7090201501261944,1,X'1F00');
INSERT INTO "log_posting_a" VALUES(7123974458837298,1,X'06000700080009000A000B000C000D000E000F0010001100120013001400180019001A00');
INSERT INTO "log_posting_a" VALUES(7189603322764553,1,X'040005000600080009000B000C000D000F0010001100120013001400180019001A002100');
INSERT INTO "log_posting_a" VALUES(7425862467408477,1,X'05000600');
INSERT INTO "log_posting_a" VALUES(7642036440159712,1,X'0400050006000700080009000A000B000C000D000E000F0010001100120013001400150016001700180019001A001B001C001D001E002200');
INSERT INTO "log_posting_a" VALUES(7798713777306467,1,X'0600');
INSERT INTO "log_posting_a" VALUES(7964835519559694,1,X'08000C000F00');
INSERT INTO "log_posting_a" VALUES(8568319588806293,1,X'0500');
INSERT INTO "log_posting_a" VALUES(8649495351828761,1,X'2100');
INSERT INTO "log_posting_a" VALUES(8859058547664515,1,X'1D00');
CREATE TABLE log_posting_b (
      term INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      lines BLOB NOT NULL,
      PRIMARY KEY (term, first_seq)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_relay_a (
      channel TEXT PRIMARY KEY,
      id TEXT NOT NULL,
      seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_relay_b (
      channel TEXT PRIMARY KEY,
      id TEXT NOT NULL,
      seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
CREATE TABLE log_topic_a (topic TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO "log_topic_a" VALUES('codehost.deployment_status.error');
INSERT INTO "log_topic_a" VALUES('codehost.pr.merged');
INSERT INTO "log_topic_a" VALUES('codehost.pr.opened');
INSERT INTO "log_topic_a" VALUES('comms.attention');
INSERT INTO "log_topic_a" VALUES('comms.attention_acknowledged');
INSERT INTO "log_topic_a" VALUES('comms.attention_handed_over');
INSERT INTO "log_topic_a" VALUES('comms.attention_resolved');
INSERT INTO "log_topic_a" VALUES('monitor.config.applied');
INSERT INTO "log_topic_a" VALUES('monitor.daemon.started');
INSERT INTO "log_topic_a" VALUES('monitor.daemon.stopped');
INSERT INTO "log_topic_a" VALUES('monitor.feed.disabled');
INSERT INTO "log_topic_a" VALUES('orchestrator.deploy.accepted');
INSERT INTO "log_topic_a" VALUES('orchestrator.deploy.failed');
INSERT INTO "log_topic_a" VALUES('orchestrator.deploy.retried');
INSERT INTO "log_topic_a" VALUES('orchestrator.worker.died');
INSERT INTO "log_topic_a" VALUES('orchestrator.worker.status_changed');
INSERT INTO "log_topic_a" VALUES('orchestrator.worker.updated');
INSERT INTO "log_topic_a" VALUES('workflow.ticket.phase_changed');
CREATE TABLE log_topic_b (topic TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE outbox_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT;
INSERT INTO "outbox_cursor" VALUES(1,36);
CREATE TABLE outbox_effect (
    key TEXT PRIMARY KEY NOT NULL,
    seq INTEGER NOT NULL,
    -- The place among the effects of its line.
    place INTEGER NOT NULL,
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
    untold INTEGER NOT NULL
  ) STRICT;
INSERT INTO "outbox_effect" VALUES('7:write-signal:run-1/ENG-42',7,0,'write-signal','write-signal:run-1/ENG-42','{"key":"7:write-signal:run-1/ENG-42","seq":7,"kind":"write-signal","orchestrator":"run-1","ticket":"ENG-42","status":"merged","pr":{"number":42,"url":"https://github.com/Codertocat/Hello-World/pull/2","state":"merged","mergedAt":"2026-11-16T08:38:01.132Z","mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"deploy":{"environment":"production","deploymentId":null,"attempts":[],"startedAt":null,"deadline":"2026-11-23T08:38:01.132Z","completedAt":null,"result":null,"containedIn":[],"provenBy":null}}','done',1,1794818281157,NULL,1794818281157,1794818281213,'written',0);
INSERT INTO "outbox_effect" VALUES('8:append:orchestrator.deploy.failed:run-1/ENG-42',8,0,'append','append:run-1/ENG-42','{"key":"8:append:orchestrator.deploy.failed:run-1/ENG-42","seq":8,"kind":"append","draft":{"event":"orchestrator.deploy.failed","source":"monitor","via":"local","occurredAt":"2026-01-02T03:00:00Z","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","sha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","environment":"production","deploymentId":1},"detail":{"state":"error","attempts":1,"budget":3,"timeoutSec":604800,"deadline":"2026-11-23T08:38:01.132Z","logUrl":"https://ci.example.test/runs/1","description":"Deployment is error"}}}','done',1,1794818281289,NULL,1794818281289,1794818281342,'appended',0);
INSERT INTO "outbox_effect" VALUES('8:write-signal:run-1/ENG-42',8,1,'write-signal','write-signal:run-1/ENG-42','{"key":"8:write-signal:run-1/ENG-42","seq":8,"kind":"write-signal","orchestrator":"run-1","ticket":"ENG-42","status":"deploy-failed","pr":{"number":42,"url":"https://github.com/Codertocat/Hello-World/pull/2","state":"merged","mergedAt":"2026-11-16T08:38:01.132Z","mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"deploy":{"environment":"production","deploymentId":1,"attempts":[{"deploymentId":1,"state":"error","failedAt":"2026-01-02T03:00:00Z","description":"Deployment is error","logUrl":"https://ci.example.test/runs/1"}],"startedAt":null,"deadline":"2026-11-23T08:38:01.132Z","completedAt":null,"result":null,"containedIn":[],"provenBy":null}}','done',1,1794818281289,NULL,1794818281289,1794818281524,'written',0);
INSERT INTO "outbox_effect" VALUES('8:append:run-1/ENG-42/deploy-failed',8,2,'append','append:run-1/ENG-42','{"key":"8:append:run-1/ENG-42/deploy-failed","seq":8,"kind":"append","draft":{"event":"comms.attention","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"detail":{"reason":"deploy-failed","message":"Deployment 1 to production failed, 1 of 3: Deployment is error","remedy":"svc deploy retry ENG-42","severity":"medium","evidence":[8]}}}','done',1,1794818281289,NULL,1794818281289,1794818281349,'appended',0);
INSERT INTO "outbox_effect" VALUES('10:notify:run-1/ENG-42/deploy-failed',10,0,'notify',NULL,'{"key":"10:notify:run-1/ENG-42/deploy-failed","seq":10,"kind":"notify","attention":"run-1/ENG-42/deploy-failed","reason":"deploy-failed","severity":"medium","message":"Deployment 1 to production failed, 1 of 3: Deployment is error","remedy":"svc deploy retry ENG-42"}','done',1,1794818281359,NULL,1794818281359,1794818281368,'no notifier is configured',0);
INSERT INTO "outbox_effect" VALUES('11:append:orchestrator.deploy.failed:run-1/ENG-42',11,1,'append','append:run-1/ENG-42','{"key":"11:append:orchestrator.deploy.failed:run-1/ENG-42","seq":11,"kind":"append","draft":{"event":"orchestrator.deploy.failed","source":"monitor","via":"local","occurredAt":"2026-01-02T03:00:00Z","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","sha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","environment":"production","deploymentId":2},"detail":{"state":"error","attempts":2,"budget":3,"timeoutSec":604800,"deadline":"2026-11-23T08:38:01.132Z","logUrl":"https://ci.example.test/runs/1","description":"Deployment is error"}}}','done',1,1794818281359,NULL,1794818281359,1794818281399,'appended',0);
INSERT INTO "outbox_effect" VALUES('11:write-signal:run-1/ENG-42',11,2,'write-signal','write-signal:run-1/ENG-42','{"key":"11:write-signal:run-1/ENG-42","seq":11,"kind":"write-signal","orchestrator":"run-1","ticket":"ENG-42","status":"deploy-failed","pr":{"number":42,"url":"https://github.com/Codertocat/Hello-World/pull/2","state":"merged","mergedAt":"2026-11-16T08:38:01.132Z","mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"deploy":{"environment":"production","deploymentId":2,"attempts":[{"deploymentId":1,"state":"error","failedAt":"2026-01-02T03:00:00Z","description":"Deployment is error","logUrl":"https://ci.example.test/runs/1"},{"deploymentId":2,"state":"error","failedAt":"2026-01-02T03:00:00Z","description":"Deployment is error","logUrl":"https://ci.example.test/runs/1"}],"startedAt":null,"deadline":"2026-11-23T08:38:01.132Z","completedAt":null,"result":null,"containedIn":[],"provenBy":null}}','done',1,1794818281359,NULL,1794818281359,1794818281606,'written',0);
INSERT INTO "outbox_effect" VALUES('11:append:run-1/ENG-42/deploy-failed',11,3,'append','append:run-1/ENG-42','{"key":"11:append:run-1/ENG-42/deploy-failed","seq":11,"kind":"append","draft":{"event":"comms.attention","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"detail":{"reason":"deploy-failed","message":"Deployment 2 to production failed, 2 of 3: Deployment is error","remedy":"svc deploy retry ENG-42","severity":"medium","evidence":[11]}}}','done',1,1794818281359,NULL,1794818281359,1794818281404,'appended',0);
INSERT INTO "outbox_effect" VALUES('15:append:orchestrator.deploy.failed:run-1/ENG-42',15,0,'append','append:run-1/ENG-42','{"key":"15:append:orchestrator.deploy.failed:run-1/ENG-42","seq":15,"kind":"append","draft":{"event":"orchestrator.deploy.failed","source":"monitor","via":"local","occurredAt":"2026-01-02T03:00:00Z","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","sha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","environment":"production","deploymentId":3},"detail":{"state":"error","attempts":3,"budget":3,"timeoutSec":604800,"deadline":"2026-11-23T08:38:01.132Z","logUrl":"https://ci.example.test/runs/1","description":"Deployment is error"}}}','done',1,1794818281408,NULL,1794818281408,1794818281419,'appended',0);
INSERT INTO "outbox_effect" VALUES('15:write-signal:run-1/ENG-42',15,1,'write-signal','write-signal:run-1/ENG-42','{"key":"15:write-signal:run-1/ENG-42","seq":15,"kind":"write-signal","orchestrator":"run-1","ticket":"ENG-42","status":"deploy-failed","pr":{"number":42,"url":"https://github.com/Codertocat/Hello-World/pull/2","state":"merged","mergedAt":"2026-11-16T08:38:01.132Z","mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"deploy":{"environment":"production","deploymentId":3,"attempts":[{"deploymentId":1,"state":"error","failedAt":"2026-01-02T03:00:00Z","description":"Deployment is error","logUrl":"https://ci.example.test/runs/1"},{"deploymentId":2,"state":"error","failedAt":"2026-01-02T03:00:00Z","description":"Deployment is error","logUrl":"https://ci.example.test/runs/1"},{"deploymentId":3,"state":"error","failedAt":"2026-01-02T03:00:00Z","description":"Deployment is error","logUrl":"https://ci.example.test/runs/1"}],"startedAt":null,"deadline":"2026-11-23T08:38:01.132Z","completedAt":null,"result":"budget-exhausted","containedIn":[],"provenBy":null}}','done',1,1794818281408,NULL,1794818281408,1794818281704,'written',0);
INSERT INTO "outbox_effect" VALUES('15:append:run-1/ENG-42/deploy-budget-exhausted',15,2,'append','append:run-1/ENG-42','{"key":"15:append:run-1/ENG-42/deploy-budget-exhausted","seq":15,"kind":"append","draft":{"event":"comms.attention","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"detail":{"reason":"deploy-budget-exhausted","message":"3 deployments to production failed, the last one 3: Deployment is error","remedy":"svc deploy retry ENG-42","severity":"high","evidence":[15]}}}','done',1,1794818281408,NULL,1794818281408,1794818281447,'appended',0);
INSERT INTO "outbox_effect" VALUES('15:append:run-1/ENG-42/deploy-failed',15,3,'append','append:run-1/ENG-42','{"key":"15:append:run-1/ENG-42/deploy-failed","seq":15,"kind":"append","draft":{"event":"comms.attention_resolved","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"detail":{"reason":"deploy-failed","message":"Its cause is gone","by":"svc"}}}','done',1,1794818281408,NULL,1794818281408,1794818281530,'appended',0);
INSERT INTO "outbox_effect" VALUES('17:notify:run-1/ENG-42/deploy-budget-exhausted',17,0,'notify',NULL,'{"key":"17:notify:run-1/ENG-42/deploy-budget-exhausted","seq":17,"kind":"notify","attention":"run-1/ENG-42/deploy-budget-exhausted","reason":"deploy-budget-exhausted","severity":"high","message":"3 deployments to production failed, the last one 3: Deployment is error","remedy":"svc deploy retry ENG-42"}','done',1,1794818281488,NULL,1794818281488,1794818281511,'no notifier is configured',0);
INSERT INTO "outbox_effect" VALUES('19:write-signal:run-1/ENG-42',19,0,'write-signal','write-signal:run-1/ENG-42','{"key":"19:write-signal:run-1/ENG-42","seq":19,"kind":"write-signal","orchestrator":"run-1","ticket":"ENG-42","status":"merged","pr":{"number":42,"url":"https://github.com/Codertocat/Hello-World/pull/2","state":"merged","mergedAt":"2026-11-16T08:38:01.132Z","mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"deploy":{"environment":"production","deploymentId":3,"attempts":[],"startedAt":null,"deadline":"2026-11-23T08:38:01.486Z","completedAt":null,"result":null,"containedIn":[],"provenBy":null,"retried":{"times":1,"failedUpTo":3}}}','done',1,1794818281550,NULL,1794818281550,1794818281756,'written',0);
INSERT INTO "outbox_effect" VALUES('19:append:run-1/ENG-42/deploy-budget-exhausted',19,1,'append','append:run-1/ENG-42','{"key":"19:append:run-1/ENG-42/deploy-budget-exhausted","seq":19,"kind":"append","draft":{"event":"comms.attention_resolved","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-42","worker":"run-1-42","repo":"acme/web","branch":"eng-42-login-form","pr":42,"mergeSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"detail":{"reason":"deploy-budget-exhausted","message":"Its cause is gone","by":"svc"}}}','done',1,1794818281550,NULL,1794818281550,1794818281581,'appended',0);
INSERT INTO "outbox_effect" VALUES('23:refresh-pull-request:acme/web#77',23,0,'refresh-pull-request',NULL,'{"key":"23:refresh-pull-request:acme/web#77","seq":23,"kind":"refresh-pull-request","repo":"acme/web","pr":77}','done',1,1794818281651,NULL,1794818281651,1794818281655,'the next round looks at it',0);
INSERT INTO "outbox_effect" VALUES('23:append:run-1/ENG-9/done-unproven',23,1,'append','append:run-1/ENG-9','{"key":"23:append:run-1/ENG-9/done-unproven","seq":23,"kind":"append","draft":{"event":"comms.attention","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-9","worker":"run-1-ENG-9","repo":"acme/web","pr":77},"detail":{"reason":"done-unproven","message":"The worker says that it is done, but no merged pull request is known","remedy":"svc deploy accept ENG-9","severity":"medium","evidence":[23]}}}','done',1,1794818281651,NULL,1794818281651,1794818281667,'appended',0);
INSERT INTO "outbox_effect" VALUES('24:notify:run-1/ENG-9/done-unproven',24,0,'notify',NULL,'{"key":"24:notify:run-1/ENG-9/done-unproven","seq":24,"kind":"notify","attention":"run-1/ENG-9/done-unproven","reason":"done-unproven","severity":"medium","message":"The worker says that it is done, but no merged pull request is known","remedy":"svc deploy accept ENG-9"}','done',1,1794818281677,NULL,1794818281677,1794818281683,'no notifier is configured',0);
INSERT INTO "outbox_effect" VALUES('28:append:run-1/ENG-7/worker-dead',28,0,'append','append:run-1/ENG-7','{"key":"28:append:run-1/ENG-7/worker-dead","seq":28,"kind":"append","draft":{"event":"comms.attention","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-7","worker":"run-1-ENG-7","repo":"acme/web"},"detail":{"reason":"worker-dead","message":"The process of the worker is gone; its last status is implementing","remedy":"svc why ENG-7","severity":"high","evidence":[28]}}}','done',1,1794818285428,NULL,1794818285428,1794818285431,'appended',0);
INSERT INTO "outbox_effect" VALUES('29:notify:run-1/ENG-7/worker-dead',29,0,'notify',NULL,'{"key":"29:notify:run-1/ENG-7/worker-dead","seq":29,"kind":"notify","attention":"run-1/ENG-7/worker-dead","reason":"worker-dead","severity":"high","message":"The process of the worker is gone; its last status is implementing","remedy":"svc why ENG-7"}','done',1,1794818285433,NULL,1794818285433,1794818285434,'no notifier is configured',0);
INSERT INTO "outbox_effect" VALUES('30:write-signal:run-1/ENG-9',30,0,'write-signal','write-signal:run-1/ENG-9','{"key":"30:write-signal:run-1/ENG-9","seq":30,"kind":"write-signal","orchestrator":"run-1","ticket":"ENG-9","status":"done","pr":null,"deploy":{"environment":"production","deploymentId":null,"attempts":[],"startedAt":null,"deadline":"2026-11-16T08:38:05.460Z","completedAt":"2026-11-16T08:38:05.460Z","result":"accepted","containedIn":[],"provenBy":null}}','done',1,1794818285466,NULL,1794818285466,1794818285512,'written',0);
INSERT INTO "outbox_effect" VALUES('30:move-ticket:ENG-9',30,1,'move-ticket','move-ticket:ENG-9','{"key":"30:move-ticket:ENG-9","seq":30,"kind":"move-ticket","ticket":"ENG-9","phase":"done"}','done',1,1794818285466,NULL,1794818285466,1794818285474,'skipped: its project has no API token for the issue tracker. Store one: svc config set svc.tracker.apiToken - < token.txt',0);
INSERT INTO "outbox_effect" VALUES('30:append:run-1/ENG-9/done-unproven',30,2,'append','append:run-1/ENG-9','{"key":"30:append:run-1/ENG-9/done-unproven","seq":30,"kind":"append","draft":{"event":"comms.attention_resolved","source":"monitor","via":"local","scope":{"orchestrator":"run-1","ticket":"ENG-9","worker":"run-1-ENG-9","repo":"acme/web","pr":77},"detail":{"reason":"done-unproven","message":"Its cause is gone","by":"svc"}}}','done',1,1794818285466,NULL,1794818285466,1794818285492,'appended',0);
INSERT INTO "outbox_effect" VALUES('34:move-ticket:ENG-42',34,0,'move-ticket','move-ticket:ENG-42','{"key":"34:move-ticket:ENG-42","seq":34,"kind":"move-ticket","ticket":"ENG-42","phase":"inReview"}','done',1,1794818285515,NULL,1794818285515,1794818285517,'skipped: its project has no API token for the issue tracker. Store one: svc config set svc.tracker.apiToken - < token.txt',0);
INSERT INTO "outbox_effect" VALUES('35:tell-worker:run-1/ENG-7:checks',35,0,'tell-worker',NULL,'{"key":"35:tell-worker:run-1/ENG-7:checks","seq":35,"kind":"tell-worker","orchestrator":"run-1","ticket":"ENG-7","cause":"checks","number":1,"repo":"acme/web","pr":42,"sha":null,"reviewId":null,"url":null,"text":"Checks fail."}','pending',0,1794818288652,NULL,1794818288652,NULL,NULL,0);
INSERT INTO "outbox_effect" VALUES('35:move-ticket:ENG-7',35,1,'move-ticket','move-ticket:ENG-7','{"key":"35:move-ticket:ENG-7","seq":35,"kind":"move-ticket","ticket":"ENG-7","phase":"inReview"}','given-up',1,1794818288652,'the tracker refused it',1794818288652,1794818288665,NULL,1);
CREATE TABLE schema_rooms (room TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
INSERT INTO "schema_rooms" VALUES('log',2);
INSERT INTO "schema_rooms" VALUES('outbox',1);
INSERT INTO "schema_rooms" VALUES('state',1);
CREATE TABLE state_pieces (
     seq INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (seq, piece)
   ) STRICT;
INSERT INTO "state_pieces" VALUES(12,0,X'28B52FFD0048BD0D00565F5B2520AB380709D3265BEDA5124FDB906D394AC135AB015B6E8A2F1641A0FFFAAB3528C000E05C51004C0053004D7B323230F13D3E687AA5D8925B1C68AA28014417D56E6A1A9D563775FD93D7D92B192709E8A6F8124C75A2B5C7F5FCDAF519B4D04B8EAA0B9E3DE24BC395B4D7478BE5211AD8674FBE2AACF0DE65BD21EF5D50CF2F5A9E2457673CDF4EF43D59D9CEDE78925C5DCFBD3DCF0E2D18038482EB9B2992EBB343B7D5F53C375268CB1403DD141F032D9809F2F59404574667BF5E46AAAF3D3BD4BC775901D43C84FE1285421D48194F84F1300C8711781CE8FA7E34866C4596E415211776169656A4B1E5C5C9125E6D5952DD926B922D30BAE92426B8B0B3B03C7368D04F8AC49474F6BD7E29485BA6CE0E2F1152E005090E0E1197388B9EFBCE1CFBCE161AFA0A437A4A37A930A43165EE99433F4998FB683CB5EBE1C59EF1496711678B7BD7AFB39C39F4159E6797408A07E0713440A1014EA4F130CFC3342007BABEF7ECD1F51B1A0008638D53974676C062F685997D1EB26A68618E1AE7EB025D310584178FBC711FD3C14D0738E57E9DDC57958B0C318247F0300F16AE3057EE1C9AF8B87EBEDEE03084C10A0D');
INSERT INTO "state_pieces" VALUES(12,1,X'28B52FFD0048851A0046BBA42610AD5607C63A61A4BE448F112C64F901F11E4C94EF603A2E3589F8FFA35E0288220000000701980096009B00F6EBFC2B7B92B3428A3C90135E47BD59E917630E8831F8AE192E357B82F717BEC5C138E957E5347C89B65F8F68389A8086B1E361076B60344CD3DCF6F5D752EDE9FC0B7F822DBA2F075FA2231863C6F8610D0E631AC6301CE69CDF4E4286D711B608639991F63BDF52B75DFB7507627A6AF2FCDB1307EFD7EBBCAD5EDB1257E7D71D8841583850348CA4EAF9969EFCF258B7B5277556FE088D84F1B57E5F3152927F075EDFDAAEFD8238AB7AA3B092AA8A6BFB0674A4539BE800E8140AB6F45EC9F9B13A48330258086070BE9CF052589DED37F03AC216F97A9DB5F6F97DDBB55FCDE5C1B7974E7D6FFB72F84FE1CA9E2C33D27EFD0B7F550DE789CE6F12FB0BBFA5DAD357D554BD7C7B657BB29D6D834BDBB9F6D536B6085F4E789B831158FBC132236D030A27F6EB928452BB010DC383F48B31C61883F80FD2AF8AA1A5DA93F348B5A7F628E5405080C0821B0BB52775562EFCD8A404ED577547112345152FD609C1CC183B41719B9BB7F69B058A69BA8088925C28515F0EC4AF1D4D94FC855F69535AE5EB539D1146426946C6811849F6F912275B8DBE1E7545D1936BE74FDAF5ABE1B76D12FA55C54849BE8540366556FA0579F0A5C26B09DB95D345CA76ED48A7E99CE77198261048F50807F45CDBE297D3F0259AE1DA16BF200FFEEB891DB091392BFD823CF8AF2D6CF58BF16D8CCDC5D85CD7AF0AF2E0571A52BA7E411E7C3B712D71BFF0AD9CF0BA06EBEDFA15232529AF2973EA4AA95AA7FBAA16F6EBB232E54452E7774760FCFAF3B4164502DD1ACD8221C05AD311C369DD0DE72C5EE381FA4191D35E373A6A68E15ABF06731ED76811818663448BF325B649BEAA2A464A460443204002221885C8E80125F4FAC821A0B0E720C44D3B803C5DEC880C53CC722DC40572E2C0A71B10ACBC4A790A11A6F2293CC1413281012744C3951ED93CC0CAAD982646E615F8A50D6C0628F043043494032504C69E448B1B288ABA1B886F037F0B10C5B675710D8A862530249CF0A9265161A1F9AF5CC0AB66F4F0A2181EA99065A8244D32CAA2B4ED979528184E56466739D6B1823B2FF1D9B96881731B832A87736D7989D54E34117B8ACE55D0C30C4F677292994A7A205419');
INSERT INTO "state_pieces" VALUES(12,2,X'28B52FFD0048350800061135224069AC033B4E45C872EDA6A6B289411088B5D8F880081215DC5B8A4176730DC3F0BA290029002C008FAFFE1A93BE2F607975C5F76C31AFD63E6A57573042C212C4BE8791E5171CF5D98F2505E822477702BAAABB2842D163E9715054F9BE052EA194FC3D37EB79E5DCF456FDC1D6D0144119BFEFC7D283B23102F34D32E9C98DB08B124B60A44149B233762FBE773261009D9389A7716634F73D6B8C2B667FC06CC1D9CF4603CFD3781300B0ACB596A21A6F945190A5CB2CCB28E2B08EB57A3247D09339C36C8681EF1F6C1D9B842647575F4910009EDBE0DDB952BC02C5702E10618359604E5BED91245B0D31460C2F73B056CCFD6AEA887AE34CF70A26A74509F6');
INSERT INTO "state_pieces" VALUES(12,3,X'28B52FFD00483D0500620B2522406BDB06FB14CB76557E8987B0EB3F7CE2CCD25EB3D1F50202DB3A86EB5414C505018A12F18364A14828E412C52588014325A5126321EBF76E34A31E2D7567C88266D42385DD391BF0A1A98A0D091CD0F100C064B3388AB0A80B47CAD722090C049CDDB9B359149AD9EC0693DDB0F9E8FB70B6D9E7F76C6C3E527DF69E0EDCA3ABB44FFBBD398DAD391396E61C82A1F33EED2C05003689A7494E531143267789215414');
INSERT INTO "state_pieces" VALUES(12,4,X'28B52FFD0048DD080006953F23306F9B03CCD49149CB30599F3115A5BE853AC7E6124A2F41D5FFDF99234A060C0C0C40360032003300122B371E0A42C28199F7124C5B2B6BEEA2FB3C82D1B432DEB545A244E99C6340E3A120241C042CE5416A666CB68828BF6CFBBEBB381256D6547D7A5A628E24C9B492C2BBB648D2CBB60C84A94ECA4D2BED7B13A5736E60E6432CCFF3C6CC2F9FE56AE51CF498F10F0E0661300C2C652D65A0C168987909F0EF4E5AB900BF9ACED5CA0DD4F08D99A36DFAC99F14E95E5394CE392666F29839C237D70F0F17CE418F593F51C0E35B225CDBD780AFC87C0F04DE51E4936016ABC5FCBC696BF50089309F79C736B91563314F7CC141E0E100580C0609080037247182EEE2A40AC96BCEB59842CAA9B11505A4FD116A0F');
INSERT INTO "state_pieces" VALUES(12,5,X'28B52FFD004875050092CC27215069AB030334BF896CAD8E27B31F5A29D40512CCD8A56A44C4FFF9C1E5646676188BC5E3A09FFB9AAB52F6F8A05248DF684C677A1896134E309741273B8B6C434A87710585F0CC2F5AF119F0B2C3FDE0EA64777D9AC744D9D03E041F23731A72307845327A39CA6557271B24CB0111402C00C30A480A128A5214955892C5CB6FF1AD93DD2183ED735EBE63DA3879AE74EE64F3B2FB192F2892D7FD8C15010310076C5CF8A4B459254D0A');
INSERT INTO "state_pieces" VALUES(12,6,X'28B52FFD00480D0500D24B241F60699B030DD56872D9CAAEFD11FC9D2A623C69A47C1D32B10015300982A00B8743E35516941CF1B9B127567D9AE60BDB735B8510756C2FEC3A22F279535072569A8B3093642F58A8B25E58A9683E46A844A06D3E3EAF7A52CA12410D28CDC50551B67C8E4300E00838E30976D1A75C33678327184F88CC9C17AAAC233E7ED284915261ACB486CF8CE1B82DFE40D9B221040038335094446A6734E19D4A');
INSERT INTO "state_pieces" VALUES(12,7,X'28B52FFD00483902005B6E756C6C2C7B22666F726D223A372C22736571223A31322C226174223A22323032362D31312D31365430383A33383A30312E3334385A222C227469636B657473223A5B5D7D5D');
CREATE TABLE state_snapshots (
     seq INTEGER PRIMARY KEY, at TEXT NOT NULL, line_id TEXT NOT NULL, version TEXT NOT NULL,
     pieces INTEGER NOT NULL, bytes INTEGER NOT NULL
   ) STRICT;
INSERT INTO "state_snapshots" VALUES(12,'2026-11-16T08:38:01.348Z','6780f1b8-0108-4de6-99bf-c91a25e995ce','1/7',8,2477);
CREATE INDEX log_block_time_a ON log_block_a (last_time);
CREATE INDEX log_block_time_b ON log_block_b (last_time);
CREATE INDEX outbox_order ON outbox_effect (order_key, seq, place) WHERE state = 'pending';
CREATE INDEX outbox_next ON outbox_effect (next_at) WHERE state = 'pending';
CREATE INDEX outbox_state ON outbox_effect (state, seq, place);
CREATE INDEX outbox_untold ON outbox_effect (seq, place) WHERE untold = 1;
COMMIT;
