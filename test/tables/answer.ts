/** What a table says to a request, in DynamoDB's wire form. */
export type Answer =
  | { readonly ok: true; readonly body: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly type: string; readonly message: string }

export type Action = 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query' | 'Scan'

export interface TableRequest {
  readonly action: Action
  readonly body: Readonly<Record<string, unknown>>
}
