// What test/t/interop/drivers.pl asks of each driver, by tokio-postgres.
use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{Client, Error, NoTls};

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

const ELEMENTS: [Option<&str>; 4] = [Some("plain"), Some("with \"quotes\", {braces} and \\"), Some("ünï"), None];

async fn ask<T: FromSqlOwned>(db: &Client, query: &str, parameters: Parameters<'_>) -> Result<T, Error> {
    db.query_one(query, parameters).await?.try_get(0)
}

fn show(answers: &[Option<bool>]) {
    let words: Vec<_> = answers.iter().map(|answer| answer.map_or("-", |yes| if yes { "t" } else { "f" })).collect();
    println!("{}", words.join(" "));
}

async fn careless<T: FromSqlOwned>(db: &Client, query: &str, parameters: Parameters<'_>) {
    println!("{}", ask::<T>(db, query, parameters).await.map_or("error", |_| "works"));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (db, connection) = tokio_postgres::connect(&std::env::var("DATABASE_URL")?, NoTls).await?;
    tokio::spawn(connection);
    let elements = ELEMENTS.to_vec();
    let more: Vec<_> = ELEMENTS.iter().copied().chain([Some("other")]).collect();

    for added in [Some(&elements), None, Some(&vec![])] {
        db.execute("UPDATE filters SET f = bf_add_all(f, $1::text[])", &[&added]).await?;
        show(&ask::<Vec<_>>(&db, "SELECT bf_contains_each(f, $1::text[]) FROM filters", &[&more]).await?);
    }
    db.execute("UPDATE filters SET f = bf_add(f, $1)", &[&None::<&str>]).await?;
    show(&[
        ask(&db, "SELECT bf_contains_all(f, $1::text[]) FROM filters", &[&elements]).await?,
        ask(&db, "SELECT bf_contains_all(f, $1::text[]) FROM filters", &[&more]).await?,
    ]);
    let live = "SELECT bf_live_contains_each('titles', $1::text[])";
    show(&ask::<Vec<_>>(&db, live, &[&vec![Some("title"), Some("other"), None]]).await?);
    let live = "SELECT bf_live_contains_all('titles', $1::text[])";
    show(&[
        ask(&db, live, &[&vec![Some("title"), None]]).await?,
        ask(&db, live, &[&vec!["title", "other"]]).await?,
    ]);
    let number = "SELECT bf_contains(f, $1::bigint) FROM numbers";
    show(&[ask(&db, number, &[&5i64]).await?, ask(&db, number, &[&-5i64]).await?]);
    let stream: Vec<u8> = ask(&db, "SELECT bf_export(f) FROM filters", &[]).await?;
    show(&[ask(&db, "SELECT $1::bytea::bloomfilter = f FROM filters", &[&stream]).await?]);

    let late = db.prepare("SELECT bf_contains(f, $1::text) FROM filters").await?;
    let mut answers = vec![];
    for _ in 0..12 {
        answers.push(db.query_one(&late, &[&"late"]).await?.get(0));
    }
    show(&answers);
    db.execute("UPDATE filters SET f = bf_add(f, 'late')", &[]).await?;
    show(&[db.query_one(&late, &[&"late"]).await?.get(0)]);

    careless::<Vec<u8>>(&db, "SELECT f FROM filters", &[]).await;
    careless::<bool>(&db, "SELECT $1::bloomfilter IS NOT NULL", &[&stream]).await;
    careless::<Vec<bool>>(&db, "SELECT bf_contains_each(f, $1) FROM filters", &[&vec!["plain"]]).await;
    careless::<Vec<bool>>(&db, "SELECT bf_contains_each(f, $1) FROM filters", &[&"{plain}"]).await;
    careless::<bool>(&db, "SELECT bf_contains(f, $1) FROM numbers", &[&5i64]).await;
    careless::<String>(&db, "SELECT (bf_info(bf_add(bf_create(100), $1))).funnel", &[&5i64]).await;
    Ok(())
}
