let library: ReturnType<typeof load> | undefined
const load = () => import('mailauth')

/** It is large: loaded with the first message that comes. To import it again for each takes 10 µs. */
export const mailauth = () => (library ??= load())
