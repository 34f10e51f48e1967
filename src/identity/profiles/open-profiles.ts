import { AddressChanges, type AddressChangesDeps } from './address-changes.ts'
import { AddressCodes, type AddressCodesDeps } from './address-codes.ts'
import { Profiles, type ProfilesDeps } from './profiles.ts'

export interface ProfileServices {
  readonly profiles: Profiles
  readonly addressChanges: AddressChanges
  readonly addressCodes: AddressCodes
}

export function openProfiles(
  deps: Omit<ProfilesDeps, 'addressChanges'> &
    AddressChangesDeps &
    Omit<AddressCodesDeps, 'addressChanges'>,
): ProfileServices {
  const addressChanges = new AddressChanges(deps)
  return {
    addressChanges,
    addressCodes: new AddressCodes({ ...deps, addressChanges }),
    profiles: new Profiles({ ...deps, addressChanges }),
  }
}
