import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const YEARS = 10
const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
  generalizedTime: 0x18,
  version: 0xa0,
  extensions: 0xa3,
  dnsName: 0x82,
}
const OID = {
  ecdsaWithSha256: Buffer.from('2a8648ce3d040302', 'hex'),
  commonName: Buffer.from('550403', 'hex'),
  subjectAltName: Buffer.from('551d11', 'hex'),
}

/** A key pair and a certificate for that host name, both in PEM, signed by itself: RFC 5280, ECDSA on P-256, ten years. */
export function selfSignedCertificate(hostname: string, now: Date): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(TAG.sequence, der(TAG.oid, OID.ecdsaWithSha256))
  const name = commonName(hostname)
  const until = new Date(now)
  until.setUTCFullYear(until.getUTCFullYear() + YEARS)
  const content = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serialNumber()),
    algorithm,
    name,
    der(TAG.sequence, time(now), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, der(TAG.sequence, alternativeName(hostname))),
  )
  const signature = sign('sha256', content, { key: privateKey, dsaEncoding: 'der' })
  const bits = der(TAG.bitString, Buffer.from([0]), signature)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(der(TAG.sequence, content, algorithm, bits)),
  }
}

/** X.690 §8.1: tag, length in its shortest form, content. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body])
  const hex = body.length.toString(16)
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body])
}

/** Positive, and without a leading zero byte. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0)
  return bytes
}

const commonName = (hostname: string): Buffer =>
  der(
    TAG.sequence,
    der(
      TAG.set,
      der(
        TAG.sequence,
        der(TAG.oid, OID.commonName),
        // RFC 5280 allows 64 characters; what counts is the alternative name.
        der(TAG.utf8String, Buffer.from(hostname.slice(0, 64))),
      ),
    ),
  )

const alternativeName = (hostname: string): Buffer =>
  der(
    TAG.sequence,
    der(TAG.oid, OID.subjectAltName),
    der(TAG.octetString, der(TAG.sequence, der(TAG.dnsName, Buffer.from(hostname)))),
  )

/** RFC 5280 §4.1.2.5: UTCTime through 2049, then GeneralizedTime. */
function time(date: Date): Buffer {
  const text = `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  return date.getUTCFullYear() < 2050
    ? der(TAG.utcTime, Buffer.from(text.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(text))
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
