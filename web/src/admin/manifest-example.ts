/** A manifest to start from: every part once, harmless when tried. */
export const manifestExample = `version: 1
branding:
  productName: Acme Chat
users:
  - email: grace@example.org
    name: Grace Hopper
    role: user
    password: change-me-please-1
`;
