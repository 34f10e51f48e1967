const LONGEST_NAME = 100

/** Functions may import each other's files, as long as they are inside the artifact. */
export function greeting(name: string): string {
  if (typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME)
    return `Hello, ${name}!`
  // What has a 4xx `statusCode` reaches the caller as it is; any other error is for the site's log.
  const message = `"name" must be text of 1 to ${LONGEST_NAME} characters`
  throw Object.assign(new Error(message), { statusCode: 400, code: 'InvalidName' })
}
