//! The HTTP client underneath, with every setting that could act behind our back turned off.

use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;

use super::target::is_loopback;

/// Networks drop connections that stay silent for minutes and tell neither side.
const TCP_KEEPALIVE: Duration = Duration::from_mins(1);

/// A client that connects to one address.
///
/// It retries nothing and follows no redirect: the library would repeat a request by itself over HTTP/2, and carry
/// `x-api-key` to another host. It has no timeout of its own but for connecting, which the injected clock cannot see.
/// It keeps no idle connection: calls are minutes apart, and a reused connection that the server has closed
/// meanwhile loses a request that may have been billed.
///
/// Proxy variables of the environment (`HTTPS_PROXY`, `NO_PROXY`, …) are honoured, except for this machine itself.
/// System certificates are read for `https` only, so that plain `http` works on a machine that has none.
pub(crate) fn client(url: &Url, connect: Duration) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("offpeak/", env!("CARGO_PKG_VERSION")))
        .retry(reqwest::retry::never())
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(connect)
        .tcp_keepalive(TCP_KEEPALIVE)
        .pool_max_idle_per_host(0);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}
