import {
  CompactEncrypt,
  type JWTPayload,
  SignJWT,
  compactDecrypt,
  decodeProtectedHeader,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  importSPKI,
  jwtVerify,
} from 'jose'

const KEY = new TextEncoder().encode('0123456789abcdef0123456789abcdef')
const failure = (error: unknown) =>
  (error as { code?: string; name: string }).code ?? (error as Error).name

/** Signs with a new key, and verifies with what others would have of it. */
async function roundTrip(alg: string, payload: JWTPayload): Promise<unknown> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const again = await importJWK(await exportJWK(privateKey), alg)
  const token = await new SignJWT(payload).setProtectedHeader({ alg }).sign(again)
  const published = await importSPKI(await exportSPKI(publicKey), alg)
  const { payload: verified } = await jwtVerify(token, published)
  const other = await generateKeyPair(alg)
  const forged = await jwtVerify(token, other.publicKey).catch(failure)
  return [verified['role'], forged]
}

async function encrypted(text: string): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ECDH-ES+A256KW')
  const jwe = await new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' })
    .encrypt(publicKey)
  return new TextDecoder().decode((await compactDecrypt(jwe, privateKey)).plaintext)
}

export default async ({ payload }: { payload: JWTPayload }) => {
  const token = await new SignJWT(payload)
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('urn:croft')
    .setExpirationTime('5 minutes')
    .sign(KEY)
  const verified = await jwtVerify(token, KEY, { issuer: 'urn:croft' })
  const forged = await jwtVerify(`${token.slice(0, -4)}AAAA`, KEY).catch(failure)
  return {
    header: decodeProtectedHeader(token),
    role: verified.payload['role'],
    forged,
    RS256: await roundTrip('RS256', payload),
    ES256: await roundTrip('ES256', payload),
    EdDSA: await roundTrip('EdDSA', payload),
    encrypted: await encrypted('for one reader'),
  }
}
