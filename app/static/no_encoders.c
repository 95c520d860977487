/* OpenSSL's default provider can write keys as DER, PEM and text. sortie has no keys of its own: it sends
   none, and checks certificates of others, for which they are read. These empty tables stand for the
   functions that write, 0.1 MB of code and of addresses that a start has to relocate. An encoder that
   were asked for all the same is one that can do nothing, which OpenSSL reports as an error.

   The names are those of OpenSSL 3.0 (providers/encoders.inc): another version's linker says which are
   missing. */
#include <openssl/core.h>
#include <stddef.h>

#define NONE(name)                                              \
  extern const OSSL_DISPATCH ossl_##name##_encoder_functions[]; \
  const OSSL_DISPATCH ossl_##name##_encoder_functions[] = {{0, NULL}}

NONE(dh_to_DH_der);
NONE(dh_to_DH_pem);
NONE(dh_to_EncryptedPrivateKeyInfo_der);
NONE(dh_to_EncryptedPrivateKeyInfo_pem);
NONE(dh_to_PKCS3_der);
NONE(dh_to_PKCS3_pem);
NONE(dh_to_PrivateKeyInfo_der);
NONE(dh_to_PrivateKeyInfo_pem);
NONE(dh_to_SubjectPublicKeyInfo_der);
NONE(dh_to_SubjectPublicKeyInfo_pem);
NONE(dh_to_text);
NONE(dh_to_type_specific_params_der);
NONE(dh_to_type_specific_params_pem);
NONE(dhx_to_DHX_der);
NONE(dhx_to_DHX_pem);
NONE(dhx_to_EncryptedPrivateKeyInfo_der);
NONE(dhx_to_EncryptedPrivateKeyInfo_pem);
NONE(dhx_to_PrivateKeyInfo_der);
NONE(dhx_to_PrivateKeyInfo_pem);
NONE(dhx_to_SubjectPublicKeyInfo_der);
NONE(dhx_to_SubjectPublicKeyInfo_pem);
NONE(dhx_to_X9_42_der);
NONE(dhx_to_X9_42_pem);
NONE(dhx_to_text);
NONE(dhx_to_type_specific_params_der);
NONE(dhx_to_type_specific_params_pem);
NONE(dsa_to_DSA_der);
NONE(dsa_to_DSA_pem);
NONE(dsa_to_EncryptedPrivateKeyInfo_der);
NONE(dsa_to_EncryptedPrivateKeyInfo_pem);
NONE(dsa_to_PrivateKeyInfo_der);
NONE(dsa_to_PrivateKeyInfo_pem);
NONE(dsa_to_SubjectPublicKeyInfo_der);
NONE(dsa_to_SubjectPublicKeyInfo_pem);
NONE(dsa_to_text);
NONE(dsa_to_type_specific_der);
NONE(dsa_to_type_specific_pem);
NONE(ec_to_EC_der);
NONE(ec_to_EC_pem);
NONE(ec_to_EncryptedPrivateKeyInfo_der);
NONE(ec_to_EncryptedPrivateKeyInfo_pem);
NONE(ec_to_PrivateKeyInfo_der);
NONE(ec_to_PrivateKeyInfo_pem);
NONE(ec_to_SubjectPublicKeyInfo_der);
NONE(ec_to_SubjectPublicKeyInfo_pem);
NONE(ec_to_X9_62_der);
NONE(ec_to_X9_62_pem);
NONE(ec_to_text);
NONE(ec_to_type_specific_no_pub_der);
NONE(ec_to_type_specific_no_pub_pem);
NONE(ed25519_to_EncryptedPrivateKeyInfo_der);
NONE(ed25519_to_EncryptedPrivateKeyInfo_pem);
NONE(ed25519_to_PrivateKeyInfo_der);
NONE(ed25519_to_PrivateKeyInfo_pem);
NONE(ed25519_to_SubjectPublicKeyInfo_der);
NONE(ed25519_to_SubjectPublicKeyInfo_pem);
NONE(ed25519_to_text);
NONE(ed448_to_EncryptedPrivateKeyInfo_der);
NONE(ed448_to_EncryptedPrivateKeyInfo_pem);
NONE(ed448_to_PrivateKeyInfo_der);
NONE(ed448_to_PrivateKeyInfo_pem);
NONE(ed448_to_SubjectPublicKeyInfo_der);
NONE(ed448_to_SubjectPublicKeyInfo_pem);
NONE(ed448_to_text);
NONE(rsa_to_EncryptedPrivateKeyInfo_der);
NONE(rsa_to_EncryptedPrivateKeyInfo_pem);
NONE(rsa_to_PKCS1_der);
NONE(rsa_to_PKCS1_pem);
NONE(rsa_to_PrivateKeyInfo_der);
NONE(rsa_to_PrivateKeyInfo_pem);
NONE(rsa_to_RSA_der);
NONE(rsa_to_RSA_pem);
NONE(rsa_to_SubjectPublicKeyInfo_der);
NONE(rsa_to_SubjectPublicKeyInfo_pem);
NONE(rsa_to_text);
NONE(rsa_to_type_specific_keypair_der);
NONE(rsa_to_type_specific_keypair_pem);
NONE(rsapss_to_EncryptedPrivateKeyInfo_der);
NONE(rsapss_to_EncryptedPrivateKeyInfo_pem);
NONE(rsapss_to_PKCS1_der);
NONE(rsapss_to_PKCS1_pem);
NONE(rsapss_to_PrivateKeyInfo_der);
NONE(rsapss_to_PrivateKeyInfo_pem);
NONE(rsapss_to_SubjectPublicKeyInfo_der);
NONE(rsapss_to_SubjectPublicKeyInfo_pem);
NONE(rsapss_to_text);
NONE(sm2_to_EncryptedPrivateKeyInfo_der);
NONE(sm2_to_EncryptedPrivateKeyInfo_pem);
NONE(sm2_to_PrivateKeyInfo_der);
NONE(sm2_to_PrivateKeyInfo_pem);
NONE(sm2_to_SM2_der);
NONE(sm2_to_SM2_pem);
NONE(sm2_to_SubjectPublicKeyInfo_der);
NONE(sm2_to_SubjectPublicKeyInfo_pem);
NONE(sm2_to_text);
NONE(sm2_to_type_specific_no_pub_der);
NONE(sm2_to_type_specific_no_pub_pem);
NONE(x25519_to_EncryptedPrivateKeyInfo_der);
NONE(x25519_to_EncryptedPrivateKeyInfo_pem);
NONE(x25519_to_PrivateKeyInfo_der);
NONE(x25519_to_PrivateKeyInfo_pem);
NONE(x25519_to_SubjectPublicKeyInfo_der);
NONE(x25519_to_SubjectPublicKeyInfo_pem);
NONE(x25519_to_text);
NONE(x448_to_EncryptedPrivateKeyInfo_der);
NONE(x448_to_EncryptedPrivateKeyInfo_pem);
NONE(x448_to_PrivateKeyInfo_der);
NONE(x448_to_PrivateKeyInfo_pem);
NONE(x448_to_SubjectPublicKeyInfo_der);
NONE(x448_to_SubjectPublicKeyInfo_pem);
NONE(x448_to_text);
