/** As much of it as the tests use; the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
    readonly Grant: {
      new (properties: { clientId?: string; accountId?: string }): Grant
      find(id: string): Promise<Grant | undefined>
    }
  }

  export const interactionPolicy: {
    readonly Prompt: new (properties: { name: string; requestable: boolean }) => object
    base(): object[] & { add(prompt: object, at?: number): void }
  }
}

/** As much of it as the tests use; the package brings no types. */
declare module 'passport-openidconnect' {
  export class Strategy {
    constructor(
      options: object,
      verify: (
        issuer: string,
        profile: object,
        done: (error: unknown, user: object) => void,
      ) => void,
    )
    authenticate(request: object, options: object): void
  }
}
