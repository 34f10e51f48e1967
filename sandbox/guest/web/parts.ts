import type { PartName, SharedFile } from '#sandbox/protocol/part-names.ts'

import type * as compression from './compression.part.ts'
import type * as encodings from './encodings.part.ts'
import { host } from './host.ts'
import { create } from './primordials.ts'
import type * as urlpattern from './urlpattern.part.ts'
import type * as webcrypto from './webcrypto.part.ts'

/** What each part exports. */
interface Parts {
  readonly compression: typeof compression
  readonly encodings: typeof encodings
  readonly urlpattern: typeof urlpattern
  readonly webcrypto: typeof webcrypto
}

type SharedModules = Readonly<Record<SharedFile, object>>

/** What the bundler puts here; site code must never get hold of it. */
declare const $shared: SharedModules

/** A part before it has run: it is given what it shares with the prelude, and gives what it exports to `provide`. */
export type PartScript = (modules: SharedModules, provide: (exports: object) => void) => void

const scripts = create(null) as Partial<Record<PartName, PartScript>>
const loaded = create(null) as Partial<Record<PartName, object>>

/**
 * A large part of the web platform, which is in no snapshot: the host compiles it when the code of a context first needs
 * it. Site code sees nothing of that. The class on the global is a shell of a few lines in the prelude, there from the
 * start and closed with the other built-ins; its constructor and methods call `part('name')` and hand their arguments on.
 * What a part makes must therefore be a value of the language or an object of the prelude's, never a class or a prototype
 * that site code could reach, and change for the calls after it.
 *
 * To add a part:
 * 1. Put its code into `NAME.part.ts` in this folder; what that file exports is what `part('NAME')` returns. It may import
 *    libraries, and the files of `web/` that `SHARED_FILES` names: those are the prelude's own, not copies, with the built-ins
 *    as they were before site code ran. (What a library takes from the global may be what the site made of it.)
 * 2. Add the name to `part-names.ts` and its type to `Parts` above.
 * 3. Write the shell, and import it in `globals.ts`.
 */
export function part<Name extends PartName>(name: Name): Parts[Name] {
  if (loaded[name] === undefined) {
    scripts[name] ??= host.part(name)
    scripts[name]?.($shared, (exports) => {
      loaded[name] = exports
    })
  }
  return loaded[name] as Parts[Name]
}
