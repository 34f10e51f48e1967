import { greeting } from './greeting.ts'

interface Input {
  readonly payload?: { readonly name?: string } | null
}

/** `POST /data/public/hello` with `{"payload":{"name":"Ada"}}` */
export default function hello({ payload }: Input): { message: string } {
  return { message: greeting(payload?.name ?? 'world') }
}
