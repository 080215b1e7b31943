-- The tables of data/reviews.duckdb, described column by column in data/README.md.
-- No primary keys: their indexes cost more than the load itself, and store.py writes each snapshot once.

create table if not exists snapshots (
    snapshot_id integer,
    venue varchar,
    year integer,
    name varchar,
    stage varchar,
    taken_at timestamp,
    source varchar,
    outcomes varchar,
    paper_ids varchar,
    review_ids varchar,
    papers integer,
    reviews integer,
    accepted integer,
    rejected integer,
    workshop integer,
    withdrawn integer,
    desk_rejected integer,
    undecided integer,
    official_counts varchar,
    digest varchar,
    client_version varchar,
    suite_version varchar
);

create table if not exists submissions (
    snapshot_id integer,
    paper integer,
    forum varchar,
    number integer,
    title varchar,
    keywords varchar[],
    area varchar,
    authors integer,
    outcome varchar,
    outcome_as_of date,
    outcome_then varchar,
    tier varchar,
    decision varchar,
    submitted_at timestamp
);

create table if not exists reviews (
    snapshot_id integer,
    paper integer,
    forum varchar,
    review_id varchar,
    reviewer varchar,
    rating tinyint,
    rating_text varchar,
    confidence tinyint,
    confidence_text varchar,
    experience tinyint,
    experience_text varchar,
    scores map(varchar, tinyint),
    score_texts map(varchar, varchar),
    words integer,
    created_at timestamp,
    modified_at timestamp
);

create table if not exists decisions (
    snapshot_id integer,
    paper integer,
    forum varchar,
    note_id varchar,
    place varchar,
    decision varchar,
    outcome varchar,
    tier varchar,
    created_at timestamp
);

create table if not exists meta_reviews (
    snapshot_id integer,
    paper integer,
    forum varchar,
    note_id varchar,
    recommendation varchar,
    confidence tinyint,
    words integer,
    created_at timestamp
);

create table if not exists comments (
    snapshot_id integer,
    paper integer,
    forum varchar,
    note_id varchar,
    kind varchar,
    author_kind varchar,
    words integer,
    created_at timestamp
);

create table if not exists problems (
    snapshot_id integer,
    forum varchar,
    note_id varchar,
    field varchar,
    value varchar,
    reason varchar
);
