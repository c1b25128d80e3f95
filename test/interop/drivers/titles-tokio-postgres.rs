// The program of doc/languages.md, by tokio-postgres: the page has what differs from psycopg's.
use tokio_postgres::NoTls;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (db, connection) = tokio_postgres::connect(&std::env::var("DATABASE_URL")?, NoTls).await?;
    tokio::spawn(connection);

    // Which of these are new?
    let batch = ["Title number 7", "Breaking news", "首页"];
    let ask = "SELECT ARRAY(SELECT DISTINCT title FROM unnest($1::text[]) AS title WHERE title IS NOT NULL
        AND bf_contains((SELECT f FROM filters WHERE name = 'titles'), title) IS NOT TRUE ORDER BY title)";
    let found: Vec<String> = db.query_one(ask, &[&&batch[..]]).await?.get(0);
    println!("new: {}", found.join(", "));

    // Remember them.
    db.execute("UPDATE filters SET f = bf_add_all(f, $1::text[]) WHERE name = 'titles'", &[&found]).await?;

    // Out, as Guava's bytes, for a file, a cache, Java ...
    let out = "SELECT bf_export(f) FROM filters WHERE name = 'titles'";
    let stream: Vec<u8> = db.query_one(out, &[]).await?.get(0);

    // ... and in, from there.
    let put = "INSERT INTO filters VALUES ('archive', $1::bytea::bloomfilter)
        ON CONFLICT (name) DO UPDATE SET f = filters.f | EXCLUDED.f RETURNING bf_count(f)";
    let count: i64 = db.query_one(put, &[&stream]).await?.get(0);
    println!("{} bytes, some {count} elements", stream.len());
    Ok(())
}
