import { createHmac, hkdfSync, randomBytes } from 'node:crypto'

import { G, K, N, signedBytesOf, hexOf, numberOf, sha256 } from '#identity/cognito/srp/group.ts'
import { timestampText } from '#identity/cognito/srp/timestamp.ts'

export interface SrpParameters {
  readonly SALT: string
  readonly SECRET_BLOCK: string
  readonly SRP_B: string
  readonly USER_ID_FOR_SRP: string
}

export interface SrpClaim {
  readonly userPoolId: string
  readonly password: string
  readonly at?: Date
  readonly timestamp?: string
}

/** The client's half of the exchange by the definitions of RFC 5054, so that a test can lie at every step. */
export class SrpClient {
  readonly #secret = numberOf(randomBytes(48))
  readonly #public = power(G, this.#secret)

  get publicHex(): string {
    return hexOf(this.#public)
  }

  /** `ChallengeResponses` to a challenge. */
  answer(challenge: SrpParameters, claim: SrpClaim): Record<string, string> {
    const poolName = claim.userPoolId.split('_')[1] ?? ''
    const user = challenge.USER_ID_FOR_SRP
    const timestamp = claim.timestamp ?? timestampText(claim.at ?? new Date())
    const signature = createHmac('sha256', this.#key(challenge, poolName, claim.password))
      .update(`${poolName}${user}`)
      .update(Buffer.from(challenge.SECRET_BLOCK, 'base64'))
      .update(timestamp)
      .digest('base64')
    return {
      USERNAME: user,
      PASSWORD_CLAIM_SECRET_BLOCK: challenge.SECRET_BLOCK,
      TIMESTAMP: timestamp,
      PASSWORD_CLAIM_SIGNATURE: signature,
    }
  }

  #key(challenge: SrpParameters, poolName: string, password: string): Buffer {
    const serverPublic = BigInt(`0x${challenge.SRP_B}`)
    const scramble = numberOf(sha256(signedBytesOf(this.#public), signedBytesOf(serverPublic)))
    const salt = signedBytesOf(BigInt(`0x${challenge.SALT}`))
    const identity = sha256(Buffer.from(`${poolName}${challenge.USER_ID_FOR_SRP}:${password}`))
    const x = numberOf(sha256(salt, identity))
    const base = (((serverPublic - K * power(G, x)) % N) + N) % N
    const secret = power(base, this.#secret + scramble * x)
    const info = 'Caldera Derived Key'
    return Buffer.from(hkdfSync('sha256', signedBytesOf(secret), signedBytesOf(scramble), info, 16))
  }
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % N]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest % 2n === 1n) result = (result * square) % N
    square = (square * square) % N
  }
  return result
}
