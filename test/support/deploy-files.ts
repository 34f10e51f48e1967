import { createHash } from 'node:crypto'

import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

export interface DeployedFiles {
  /** Undefined when it was refused before it had one. */
  readonly deploymentId: string | undefined
  /** To the activation, or the first refusal on the way there. */
  readonly answer: Answer
}

/** Deploys texts by path, as the operator's tool does it. */
export async function deployFiles(
  stack: Stack,
  site: string,
  files: Readonly<Record<string, string>>,
): Promise<DeployedFiles> {
  const base = `/sites/${site}/deployments`
  const begun = await stack.portal('POST', base, {
    buildYml: 'ARTIFACT_DIR: dist',
    files: Object.entries(files).map(([path, text]) => ({
      path,
      sha256: sha256(text),
      sizeBytes: Buffer.byteLength(text),
    })),
  })
  if (begun.status !== 200) return { deploymentId: undefined, answer: begun }
  const { deploymentId, missing } = begun.json
  const texts = new Map(Object.values(files).map((text) => [sha256(text), text]))
  for (const hash of missing) {
    const answer = await stack.call(
      'localhost',
      'PUT',
      `/portal/api${base}/${deploymentId}/files/${hash}`,
      { token: stack.operatorKey, body: Buffer.from(texts.get(hash) ?? '') },
    )
    if (answer.status !== 204) return { deploymentId, answer }
  }
  return { deploymentId, answer: await stack.portal('POST', `${base}/${deploymentId}/activate`) }
}
