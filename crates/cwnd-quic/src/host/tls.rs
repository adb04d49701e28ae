//! TLS 1.3 for simulated QUIC endpoints, by rustls and ring: one self-signed Ed25519 certificate, no tickets, no clock.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, GetRandomFailed, SecureRandom, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use std::sync::{Arc, LazyLock};

/// The certificate's name.
pub const SERVER_NAME: &str = "receiver";

/// A self-signed certificate and its key, for simulated receivers only: the key is public. Ed25519 signatures have one length and
/// need no random numbers.
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");
const KEY: &[u8] = include_bytes!("key.der");

/// The configuration of all receivers, or why rustls refuses it.
pub static SERVER: LazyLock<Result<Arc<ServerConfig>, Error>> = LazyLock::new(|| {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
    // Tickets contain times of the host's clock.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
});

/// The configuration of all senders, or why rustls refuses it.
pub static CLIENT: LazyLock<Result<Arc<ClientConfig>, Error>> = LazyLock::new(|| {
    let provider = provider();
    let algorithms = provider.signature_verification_algorithms;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned(algorithms)))
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Ok(Arc::new(config))
});

/// Returns ring's provider with AES-128-GCM, X25519 and the fixed random numbers.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![ring::kx_group::X25519],
        secure_random: &FixedRandom,
        ..ring::default_provider()
    })
}

/// The random numbers of handshakes: always the same, since a simulated connection has nothing to hide. They also decide the order
/// of the extensions in the ClientHello.
#[derive(Debug)]
struct FixedRandom;

impl SecureRandom for FixedRandom {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), GetRandomFailed> {
        buffer.iter_mut().zip(1u8..=255).for_each(|(byte, value)| *byte = value.wrapping_mul(151));
        Ok(())
    }
}

/// Accepts the one certificate that receivers have, at any time.
#[derive(Debug)]
struct Pinned(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if end_entity.as_ref() == CERTIFICATE {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
