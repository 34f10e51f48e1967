interface Input {
  readonly payload: unknown
  readonly auth: { readonly sub: string; readonly username: string; readonly groups: string[] }
  readonly requestId: string
}

/** For signed-in visitors: sends back what came, and who sent it. */
export default async function echo({ payload, auth, requestId }: Input) {
  console.log('echo for', auth.username)
  return { payload, username: auth.username, groups: auth.groups, requestId }
}
