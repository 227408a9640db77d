/** Texts of invitations beyond the list: a model for the person, and a link that opens. */
export const texts = {
  'firstModel.text':
    'Share a provider with everyone here, and they can start at once. They use its enabled models at your cost; nobody sees the key.',
  'firstModel.share': 'Share {name}',
  'firstModel.shared': '{name} is now shared with everyone here.',
  'firstModel.none': 'Nobody here shares a model yet. Add one first, so that they can start at once.',
  'firstModel.add': 'Add a provider',
  'firstModel.without': 'Invite without a model',
  'firstModel.addWithout': 'Add without a model',
  'firstModel.addNeeded': 'Share a model first, or choose to add this person without one.',
  'firstModel.needed': 'Share a model first, or choose to invite without one.',
  'invitations.onlyHereTitle': 'This link opens only on this computer',
  'invitations.onlyHere':
    'Others can’t reach it. Start Homeport with HOST=0.0.0.0 and invite from its address in your network, or set BASE_URL to a public address.',
  'invitations.network': 'Link for your network',
  'invitations.networkHint': 'Opens on other devices in the same network.',
} as const;
