//! TLS 1.3 of a server with a self-signed certificate, which clients know by its hash.

use crate::Error;
use crate::content::hex;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name in the certificate.
pub const SERVER_NAME: &str = "localhost";

/// The name of the protocol (ALPN).
const PROTOCOL: &[u8] = b"cwnd-transfer";

/// The SHA-256 of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    fn of(certificate: &CertificateDer<'_>) -> Fingerprint {
        Fingerprint(Sha256::digest(certificate).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Fingerprint, Error> {
        let wrong = || Error::new("a certificate's hash has 64 hexadecimal digits; the server prints it");
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Fingerprint(bytes))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Returns the configuration of a server with a new certificate, and the certificate's hash.
pub fn server() -> Result<(ServerConfig, Fingerprint), Error> {
    let made =
        rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()]).map_err(Error::at("certificate"))?;
    let certificate = made.cert.der().clone();
    let fingerprint = Fingerprint::of(&certificate);
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(Error::at("TLS"))?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .map_err(Error::at("certificate"))?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok((config, fingerprint))
}

/// Returns the configuration of a client that accepts the certificate with this hash, or every certificate.
pub fn client(certificate: Option<Fingerprint>) -> Result<ClientConfig, Error> {
    let provider = provider();
    let verifier = Pinned { certificate, algorithms: provider.signature_verification_algorithms };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(Error::at("TLS"))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(config)
}

/// Accepts one certificate, or all; the server must have the key of it in any case.
#[derive(Debug)]
struct Pinned {
    certificate: Option<Fingerprint>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.certificate {
            Some(expected) if expected != Fingerprint::of(end_entity) => {
                Err(rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_as_it_is_read() {
        let text = "00ff".repeat(16);
        assert_eq!(text.parse::<Fingerprint>().unwrap().to_string(), text);
        assert!("00".parse::<Fingerprint>().is_err() && "0g".repeat(32).parse::<Fingerprint>().is_err());
    }
}
