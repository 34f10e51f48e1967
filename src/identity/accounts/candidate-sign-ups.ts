import { MAX_CODE_ATTEMPTS } from '#identity/mailed-codes.ts'

import type { PendingSignUp } from './sign-up-queries.ts'

/** Which of the sign-ups that wait for an address a code may confirm, and in which its try counts. */
export function candidateSignUps(
  waiting: readonly PendingSignUp[],
  chosen: { readonly registrationId?: string | undefined; readonly network: string },
): readonly PendingSignUp[] {
  return addressedSignUps(waiting, chosen).filter(
    ({ codeHash, tries }) => codeHash && tries < MAX_CODE_ATTEMPTS,
  )
}

/**
 * The most likely sign-up when the request names none: the newest of those from the same network, else the newest. A stranger who
 * signs up with the same address, before or after, does not come between.
 */
export const mostLikelySignUp = (
  newestFirst: readonly PendingSignUp[],
  network: string,
): PendingSignUp | undefined => newestFromNetwork(newestFirst, network) ?? newestFirst[0]

export const newestFromNetwork = (
  newestFirst: readonly PendingSignUp[],
  network: string,
): PendingSignUp | undefined => newestFirst.find((each) => each.network === network)

/** A code alone must not confirm a stranger's sign-up, with the stranger's password: the mails look the same. */
function addressedSignUps(
  waiting: readonly PendingSignUp[],
  { registrationId, network }: { registrationId?: string | undefined; network: string },
): readonly PendingSignUp[] {
  if (registrationId !== undefined) {
    return waiting.filter((each) => each.registrationId === registrationId)
  }
  return waiting.length < 2 ? waiting : waiting.filter((each) => each.network === network)
}
