/** Names with their values; an array is the same name several times, undefined leaves it out. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

export type Endpoint = 'authorize' | 'token' | 'userInfo' | 'revoke' | 'logout'

/** One request, said so that it can be sent to any server. */
export interface Message {
  readonly endpoint: Endpoint
  readonly method?: string
  readonly query?: Fields | string
  readonly form?: Fields
  /** As it is, in place of a form. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const encoded = (fields: Fields): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    ),
  ).toString()
