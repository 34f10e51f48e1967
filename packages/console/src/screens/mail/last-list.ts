let last = '/mail'

/** The list of messages that was shown last, with its search. */
export const lastList = (): string => last

export function rememberList(place: string): void {
  last = place
}
