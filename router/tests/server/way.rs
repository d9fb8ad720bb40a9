//! The way to an endpoint: certificates of one's own, and proxies.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::process::Command;

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/tls").join(name)
}

/// Answers each encrypted request with one word. Its certificate comes from an authority that only this test knows.
fn start_encrypted() -> String {
    let chain = CertificateDer::pem_file_iter(fixture("server.pem")).unwrap().collect::<Result<Vec<_>, _>>();
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.unwrap(), key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            let mut request = [0; 4_096];
            // A client that does not trust the certificate goes away here.
            if stream.read(&mut request).is_ok() {
                drop(stream.write_all((raw::head() + &word("hi")).as_bytes()));
                stream.conn.send_close_notify();
                drop(stream.flush());
            }
        }
    });
    base
}

#[tokio::test]
async fn certificates_of_one_s_own_are_trusted_where_they_are_named() {
    let base = start_encrypted();
    let with = |ca_file: Option<PathBuf>| Provider {
        ca_file,
        retry: Retry { times: 0, ..RETRY },
        ..provider(&base)
    };
    assert_eq!(say(&router(with(Some(fixture("authority.pem"))))).await.0.unwrap(), a_reply("hi"));
    let error = say(&router(with(None))).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Network { attempts: 1, .. }), "{error:?}");

    let bad = |name: &str| router(with(Some(fixture(name))));
    let error = say(&bad("gone.pem")).await.0.unwrap_err().to_string();
    let expect = format!("p/m: ca_file {} cannot be read: ", fixture("gone.pem").display());
    assert!(error.starts_with(&expect), "{error}");
    let error = say(&bad("server.key")).await.0.unwrap_err().to_string();
    let expect = format!("p/m: ca_file {} holds no certificate in PEM form", fixture("server.key").display());
    assert_eq!(error, expect);
}

/// Proxies are named by variables of the process, so this test runs itself again in one that has them.
#[tokio::test]
async fn a_proxy_is_used_except_to_this_machine() {
    const NAME: &str = "way::a_proxy_is_used_except_to_this_machine";
    const LOCAL: &str = "TANDEM_TEST_LOCAL_BASE";
    if let Ok(local) = std::env::var(LOCAL) {
        let far = Provider { plaintext: Plaintext::Allowed, ..provider("http://models.invalid/v1") };
        assert_eq!(say(&router(far)).await.0.unwrap(), a_reply("far"));
        assert_eq!(say(&router(provider(&local))).await.0.unwrap(), a_reply("near"));
        return;
    }
    let proxy = Server::start(vec![Answer::stream(&word("far"))]).await;
    let local = Server::start(vec![Answer::stream(&word("near"))]).await;
    let again = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env("http_proxy", proxy.base.trim_end_matches("/v1"))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .env(LOCAL, &local.base)
        .stdout(Stdio::piped())
        .output()
        .await
        .unwrap();
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
    let lines =
        [proxy.seen(), local.seen()].map(|seen| seen.into_iter().map(|one| one.line).collect::<Vec<_>>());
    let expect =
        ["POST http://models.invalid/v1/chat/completions HTTP/1.1", "POST /v1/chat/completions HTTP/1.1"];
    assert_eq!(lines, expect.map(|line| vec![line.to_owned()]));
}
