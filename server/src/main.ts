import { closeInherited } from './platform/inherited-descriptors.ts';

// Before anything loads Node's TLS, which reads certificates (NODE_EXTRA_CA_CERTS) in a thread of its own, from
// descriptors that look like inherited ones.
closeInherited();
await import('./start.ts');
