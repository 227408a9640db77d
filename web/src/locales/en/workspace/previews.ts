/** Texts of apps that run in the workspace, in English: loaded with their view. */
export const texts = {
  'ports.tab': 'Apps',
  'ports.none': 'No app is running',
  'ports.noneHint': 'Ask for an app, or start a server in the terminal. It appears here by its port.',
  'ports.list': 'Running apps',
  'ports.port': 'Port {port}',
  'ports.open': 'Open',
  'ports.openPort': 'Open port {port}',
  'ports.openTab': 'Open in a new tab',
  'ports.back': 'All apps',
  'ports.reload': 'Reload the app',
  'ports.full': 'Full screen',
  'ports.frame': 'App on port {port}',
  'ports.noAddress': 'Apps can’t be opened at this address.',
  'ports.noAddressHint': 'Open Homeport at localhost, or ask your administrator to set PREVIEW_ORIGIN.',
  'ports.failed': 'Couldn’t open the app',
  'ports.noStorage':
    'This browser keeps no data for apps in this pane. If the app needs to save something or sign you in, open it in its own tab.',
  'ports.dismiss': 'Dismiss',
  'ports.storageFrame': 'Storage check',
  'ports.openApp': 'Open app',
} as const;
