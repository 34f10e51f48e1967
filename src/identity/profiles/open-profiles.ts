import { AddressChanges, type AddressChangesDeps } from './address-changes.ts'
import { Profiles, type ProfilesDeps } from './service.ts'

export interface ProfileServices {
  readonly profiles: Profiles
  readonly addressChanges: AddressChanges
}

export function openProfiles(
  deps: Omit<ProfilesDeps, 'addressChanges'> & AddressChangesDeps,
): ProfileServices {
  const addressChanges = new AddressChanges(deps)
  return { addressChanges, profiles: new Profiles({ ...deps, addressChanges }) }
}
