import { type KeyObject, createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

import { isoCBOR } from '@simplewebauthn/server/helpers'

const USER_PRESENT_AND_VERIFIED = 0x05
const HAS_KEY = 0x40

/** What a page, or a script that pretends to be one, gives a device to sign. */
export interface DeviceRequest {
  readonly challenge: string
  readonly origin: string
  readonly rpId: string
  /** More of what browsers say of the page, or something else than they would. */
  readonly clientData?: Readonly<Record<string, unknown>>
}

/** A passkey in a few lines: what any script makes without a device. */
export class SoftDevice {
  readonly credentialId = randomBytes(16)
  readonly #privateKey: KeyObject
  readonly #publicKey: Uint8Array

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    this.#privateKey = privateKey
    this.#publicKey = isoCBOR.encode(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    )
  }

  /** The credential that `navigator.credentials.create` gives, as JSON, without an attestation. */
  create(request: DeviceRequest): string {
    const { length } = this.credentialId
    const key = Buffer.concat([Buffer.alloc(16), Buffer.from([0, length]), this.credentialId])
    const authData = Buffer.concat([
      this.#authenticatorData(request, USER_PRESENT_AND_VERIFIED | HAS_KEY),
      key,
      this.#publicKey,
    ])
    const attestation = new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ])
    return this.#credential({
      clientDataJSON: clientDataOf('webauthn.create', request).toString('base64url'),
      attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
    })
  }

  /** What `navigator.credentials.get` gives, as JSON. */
  get(request: DeviceRequest, sub: string): string {
    const clientData = clientDataOf('webauthn.get', request)
    const authenticatorData = this.#authenticatorData(request, USER_PRESENT_AND_VERIFIED)
    const signed = Buffer.concat([authenticatorData, sha256(clientData)])
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
      userHandle: Buffer.from(sub).toString('base64url'),
    })
  }

  #authenticatorData({ rpId }: DeviceRequest, flags: number): Buffer {
    return Buffer.concat([sha256(Buffer.from(rpId)), Buffer.from([flags]), Buffer.alloc(4)])
  }

  #credential(response: Readonly<Record<string, string>>): string {
    const id = this.credentialId.toString('base64url')
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response,
    })
  }
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

const clientDataOf = (type: string, { challenge, origin, clientData }: DeviceRequest): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...clientData }))
