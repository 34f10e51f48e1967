import { createHash } from 'node:crypto'

import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

export type SiteFiles = Readonly<Record<string, string>>

export interface DeploymentAttempt {
  /** Undefined when it was refused before it had one. */
  readonly deploymentId: string | undefined
  readonly answer: Answer
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Deploys to sites over the wire, as the operator does. */
export class DeployDesk {
  readonly #stack: Stack

  constructor(stack: Stack) {
    this.#stack = stack
  }

  begin(site: string, files: SiteFiles, more: object = {}): Promise<Answer> {
    const announced = Object.entries(files).map(([path, text]) => ({
      path,
      sha256: sha256(text),
      sizeBytes: Buffer.byteLength(text),
    }))
    const body = { buildYml: 'ARTIFACT_DIR: dist', files: announced, ...more }
    return this.#stack.portal('POST', `/sites/${site}/deployments`, body)
  }

  /** Uploads everything and activates nothing. Returns the deployment's id. */
  async upload(site: string, files: SiteFiles, more: object = {}): Promise<string> {
    const { deploymentId, answer } = await this.#upload(site, files, more)
    done(answer)
    return deploymentId ?? ''
  }

  async activate(site: string, deploymentId: string): Promise<void> {
    done(await this.#activate(site, deploymentId))
  }

  /** Deploys as far as it is allowed: to the activation, or to the first refusal on the way there. */
  async attempt(site: string, files: SiteFiles): Promise<DeploymentAttempt> {
    const { deploymentId, answer } = await this.#upload(site, files, {})
    if (deploymentId === undefined || answer.status >= 300) return { deploymentId, answer }
    return { deploymentId, answer: await this.#activate(site, deploymentId) }
  }

  async deploy(site: string, files: SiteFiles, more: object = {}): Promise<string> {
    const deploymentId = await this.upload(site, files, more)
    await this.activate(site, deploymentId)
    return deploymentId
  }

  async #upload(site: string, files: SiteFiles, more: object): Promise<DeploymentAttempt> {
    const begun = await this.begin(site, files, more)
    if (begun.status !== 200) return { deploymentId: undefined, answer: begun }
    const { deploymentId, missing } = begun.json
    for (const text of Object.values(files).filter((each) => missing.includes(sha256(each)))) {
      const path = `/portal/api/sites/${site}/deployments/${deploymentId}/files/${sha256(text)}`
      const { operatorKey: token } = this.#stack
      const headers = { 'content-type': 'application/octet-stream' }
      const body = new TextEncoder().encode(text)
      const answer = await this.#stack.call('localhost', 'PUT', path, { token, headers, body })
      if (answer.status !== 204) return { deploymentId, answer }
    }
    return { deploymentId, answer: begun }
  }

  #activate(site: string, deploymentId: string): Promise<Answer> {
    return this.#stack.portal('POST', `/sites/${site}/deployments/${deploymentId}/activate`)
  }
}

function done(answer: Answer): Answer {
  if (answer.status < 300) return answer
  throw new Error(`${answer.status} ${answer.text}`)
}
