/** A manifest to start from. */
export const manifestExample = `version: 1
branding:
  tagline: Our own place to talk to any model
users:
  # Without a password the account can only sign in by single sign-on.
  - email: grace@example.org
    name: Grace Hopper
    role: user
`;
