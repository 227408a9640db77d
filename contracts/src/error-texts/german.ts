import type { english } from './english.ts';

/** German texts of every failure, by code, reason and narrower cause. */
export const german: Record<keyof typeof english, string> = {
  invalid_request: 'Die Anfrage wurde abgelehnt. Prüfe deine Eingaben oder lade die Seite neu.',
  blocked_destination:
    'Homeport verbindet sich nicht mit dieser Adresse. Verwende eine öffentliche https-Adresse. Für private Adressen und http braucht es ALLOW_PRIVATE_EGRESS und ALLOW_INSECURE_HTTP.',
  model_unavailable: 'Dieses Modell ist nicht mehr verfügbar. Wähle ein anderes.',
  invalid_path: 'Dieser Pfad ist nicht erlaubt. Wähle einen anderen Namen oder Ordner.',
  unauthorized: 'Du bist nicht angemeldet. Melde dich erneut an.',
  invalid_credentials: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  invalid_api_key: 'Das Zugriffstoken ist ungültig oder abgelaufen.',
  forbidden: 'Dein Konto darf das nicht. Frage einen Administrator.',
  account_disabled: 'Dieses Konto ist gesperrt. Frage einen Administrator.',
  setup_claim_mismatch: 'Das Einrichtungs-Token ist falsch.',
  provider_settings_disabled: 'Dein Konto darf Anbieter und Modelle nicht ändern. Frage einen Administrator.',
  mcp_settings_disabled: 'Dein Konto darf MCP-Server nicht ändern. Frage einen Administrator.',
  password_change_required: 'Wähle zuerst ein neues Passwort.',
  recent_sign_in_required: 'Melde dich erneut an, um das zu bestätigen.',
  insufficient_scope: 'Das Zugriffstoken darf das nicht.',
  origin_not_allowed:
    'Diese Seite hat eine andere Adresse, als der Server erwartet. Öffne Homeport unter seiner eigenen Adresse.',
  sharing_disabled: 'Diese Art zu teilen ist hier ausgeschaltet. Frage einen Administrator.',
  share_password: 'Das geht nur mit dem richtigen Passwort.',
  not_found: 'Das gibt es nicht oder nicht mehr.',
  method_not_allowed: 'Der Server nimmt diese Art von Anfrage hier nicht an.',
  id_taken: 'Dieser Name oder diese Kennung ist schon vergeben. Wähle etwas anderes.',
  tier_in_use: 'Modelle verwenden diese Stufe noch. Verschiebe sie zuerst in eine andere.',
  import_source_conflict: 'Diese Quelle wurde schon als andere Datei importiert.',
  import_ended: 'Der Import ist beendet. Lade die Seite neu.',
  setup_closed: 'Den ersten Administrator gibt es schon. Melde dich an.',
  input_conflict: 'Diese Nachricht wurde schon mit anderem Inhalt gesendet. Lade die Unterhaltung neu.',
  input_applied: 'Das wurde schon beantwortet. Lade die Unterhaltung neu.',
  response_running: 'In dieser Unterhaltung wird gerade eine Antwort geschrieben. Warte auf ihr Ende oder stoppe sie.',
  conversation_archived: 'Die Unterhaltung ist archiviert. Stelle sie zuerst wieder her.',
  project_archived: 'Das Projekt ist archiviert. Sein Eigentümer kann es wiederherstellen.',
  last_admin: 'Damit gäbe es keinen aktiven Administrator mehr. Ernenne zuerst jemand anderen.',
  last_sign_in_method: 'Das ist der einzige Weg zur Anmeldung. Füge zuerst einen anderen hinzu.',
  email_taken: 'Es gibt schon ein Konto mit dieser E-Mail-Adresse.',
  path_taken: 'Es gibt schon eine Datei oder einen Ordner mit diesem Namen. Wähle einen anderen.',
  mcp_tools_changed: 'Die Werkzeuge des MCP-Servers haben sich geändert. Prüfe sie erneut.',
  skill_changed: 'Der Skill hat sich geändert. Prüfe ihn erneut.',
  files_changed: 'Dateien wurden seitdem geändert. Sieh dir zuerst die Unterschiede an.',
  secrets_found: 'Einiges davon sieht nach Passwörtern oder Schlüsseln aus. Sieh es dir an, bevor du es teilst.',
  invitation_used: 'Diese Einladung wurde schon verwendet. Melde dich an oder bitte um eine neue.',
  credentials_unreadable: 'Der gespeicherte Schlüssel lässt sich nicht verwenden. Gib ihn erneut ein.',
  invitation_expired: 'Diese Einladung ist abgelaufen. Bitte um eine neue.',
  payload_too_large: 'Das ist größer als erlaubt. Sende weniger.',
  unsupported_media_type: 'Der Server nimmt diese Art von Inhalt nicht an.',
  rate_limited: 'Zu viele Anfragen. Warte einen Moment und versuche es erneut.',
  budget_exhausted: 'Das Budget für Modelle ist aufgebraucht. Bitte einen Administrator, es zu erhöhen.',
  'budget_exhausted.resetsAt': 'Das Budget ist bis {resetsAt} aufgebraucht. Bitte einen Administrator, es zu erhöhen.',
  internal_error: 'Es ist etwas Unerwartetes passiert. Versuche es erneut.',
  answer_too_long:
    'Die Antwort hat die größte Länge einer Antwort erreicht. Frage in einer neuen Nachricht nach dem Rest.',
  provider_error: 'Der Anbieter hat mit einem Fehler geantwortet. Prüfe den Anbieter und das Modell.',
  provider_unreachable: 'Der Anbieter ist nicht erreichbar. Prüfe seine Adresse und das Netzwerk.',
  'provider_unreachable.dns': 'Der Dienst ist nicht erreichbar: Sein Name lässt sich nicht auflösen.',
  'provider_unreachable.refused': 'Der Dienst ist nicht erreichbar: Die Verbindung wurde abgelehnt.',
  'provider_unreachable.unreachable': 'Der Dienst ist nicht erreichbar: Es gibt keinen Weg zu ihm.',
  'provider_unreachable.timeout': 'Der Dienst hat nicht rechtzeitig geantwortet.',
  'provider_unreachable.timeout.response':
    'Der Anbieter hat aufgehört zu senden, bevor die Antwort vollständig war. Versuche es erneut.',
  'provider_unreachable.tls': 'Der Dienst ist nicht erreichbar: Eine sichere Verbindung kam nicht zustande.',
  'provider_unreachable.tls.self_signed':
    'Der Dienst ist nicht erreichbar: Sein Zertifikat ist selbst signiert. Trage seine Datei in NODE_EXTRA_CA_CERTS ein und starte Homeport neu.',
  'provider_unreachable.tls.expired':
    'Der Dienst ist nicht erreichbar: Sein Zertifikat ist abgelaufen oder noch nicht gültig. Prüfe auch die Uhren.',
  'provider_unreachable.tls.host':
    'Der Dienst ist nicht erreichbar: Sein Zertifikat wurde für einen anderen Namen ausgestellt.',
  'provider_unreachable.tls.untrusted':
    'Der Dienst ist nicht erreichbar: Die Zertifizierungsstelle seines Zertifikats ist unbekannt. Trage ihre Datei in NODE_EXTRA_CA_CERTS ein und starte Homeport neu.',
  'provider_unreachable.tls.not_tls':
    'Der Dienst ist nicht erreichbar: Er verwendet kein TLS. Verwende http statt https oder den Port für https.',
  'provider_unreachable.reset': 'Der Dienst ist nicht erreichbar: Die Verbindung wurde vorzeitig geschlossen.',
  'provider_unreachable.reset.response':
    'Die Verbindung zum Anbieter brach ab, bevor die Antwort vollständig war. Versuche es erneut.',
  'provider_unreachable.protocol': 'Der Dienst ist nicht erreichbar: Seine Antwort war kein gültiges HTTP.',
  'provider_unreachable.too_large': 'Die Antwort des Dienstes war zu groß.',
  'provider_unreachable.encoded': 'Die Antwort des Dienstes war komprimiert, obwohl das nicht verlangt war.',
  'provider_unreachable.redirect': 'Der Dienst leitet auf eine Weise weiter, der Homeport nicht folgt.',
  'mcp_unreachable.sign_in_needed': 'Der MCP-Server verlangt, dass du dich anmeldest.',
  'mcp_unreachable.more_access':
    'Der MCP-Server verlangt mehr Zugriff, als du gegeben hast. Melde dich dort erneut an.',
  'mcp_unreachable.access': 'Der MCP-Server hat den Zugriff verweigert. Prüfe die Header.',
  'mcp_unreachable.timeout': 'Der MCP-Server hat nicht rechtzeitig geantwortet.',
  'mcp_unreachable.protocol': 'Die Antwort kam nicht von einem MCP-Server. Prüfe Adresse und Transport.',
  'mcp_unreachable.redirect': 'Der MCP-Server leitet auf eine Weise weiter, der Homeport nicht folgt.',
  'mcp_unreachable.dns': 'Der Name des MCP-Servers lässt sich nicht auflösen.',
  'mcp_unreachable.refused': 'Der MCP-Server hat die Verbindung abgelehnt.',
  'mcp_unreachable.tls': 'Mit dem MCP-Server kam keine sichere Verbindung zustande.',
  'mcp_unreachable.tls.self_signed':
    'Das Zertifikat des MCP-Servers ist selbst signiert. Trage seine Datei in NODE_EXTRA_CA_CERTS ein und starte Homeport neu.',
  'mcp_unreachable.tls.expired': 'Das Zertifikat des MCP-Servers ist abgelaufen oder noch nicht gültig.',
  'mcp_unreachable.tls.host': 'Das Zertifikat des MCP-Servers wurde für einen anderen Namen ausgestellt.',
  'mcp_unreachable.tls.untrusted':
    'Die Zertifizierungsstelle des MCP-Servers ist unbekannt. Trage ihre Datei in NODE_EXTRA_CA_CERTS ein und starte Homeport neu.',
  'mcp_unreachable.tls.not_tls':
    'Der MCP-Server verwendet kein TLS. Verwende http statt https oder den Port für https.',
  mcp_unreachable: 'Der MCP-Server lässt sich nicht verwenden. Prüfe seine Adresse und seine Header.',
  search_error: 'Der Suchdienst hat nicht geantwortet, wie er soll. Prüfe seine Einstellungen.',
  'search_error.format':
    'SearXNG erlaubt kein JSON. Ergänze „json“ bei search.formats in seiner settings.yml und starte SearXNG neu.',
  'search_error.key': 'Der Suchdienst hat den API-Schlüssel abgelehnt. Prüfe den Schlüssel.',
  'search_error.quota': 'Der Suchdienst erlaubt vorerst keine weiteren Suchen. Warte oder erhöhe das Limit des Kontos.',
  'search_error.quota.retryAt':
    'Der Suchdienst erlaubt bis {retryAt} keine weiteren Suchen. Warte oder erhöhe das Limit des Kontos.',
  'search_error.protocol': 'Die Antwort ist keine dieses Suchdienstes. Prüfe die Art des Dienstes und seine Adresse.',
  'search_error.unreachable': 'Der Suchdienst ist nicht erreichbar. Prüfe seine Adresse und das Netzwerk.',
  workspace_request_failed: 'Der Workspace hat das nicht ausgeführt. Versuche es erneut oder starte ihn neu.',
  database_unavailable: 'Die Datenbank ist nicht erreichbar. Versuche es gleich noch einmal.',
  maintenance: 'Wartung: Du kannst alles lesen und bald wieder schreiben.',
  workspace_disabled: 'Hier gibt es keine Workspaces.',
  workspace_start_timeout: 'Der Workspace ist nicht rechtzeitig gestartet. Versuche es erneut.',
  storage_full: 'Der Speicherplatz ist voll. Lösche Dateien, die du nicht mehr brauchst.',
  'provider_error.quota':
    'Das Kontingent des Kontos beim Anbieter ist aufgebraucht. Erhöhe dort das Limit oder wähle ein anderes Modell.',
  'provider_error.quota.retryAt':
    'Das Kontingent des Kontos beim Anbieter ist bis {retryAt} aufgebraucht. Erhöhe dort das Limit oder wähle ein anderes Modell.',
  'provider_error.credit':
    'Das Konto beim Anbieter hat kein Guthaben mehr. Lade dort Guthaben auf oder wähle ein anderes Modell.',
  'provider_error.key': 'Der Anbieter hat den API-Schlüssel abgelehnt. Prüfe den API-Schlüssel des Anbieters.',
  'provider_error.content_filter':
    'Der Inhaltsfilter des Anbieters hat die Anfrage abgelehnt. Formuliere die Nachricht um oder wähle ein anderes Modell.',
  'provider_error.loading': 'Das Modell wird noch geladen. Versuche es in einer Minute erneut.',
  'provider_error.certificate':
    'Dem Zertifikat des Anbieters wird nicht vertraut. Kommt es von deiner eigenen Zertifizierungsstelle, gib ihre Datei in NODE_EXTRA_CA_CERTS an und starte Homeport neu.',
  'provider_error.certificate.self_signed':
    'Das Zertifikat des Anbieters ist selbst signiert, und ihm wird nicht vertraut. Gib seine Datei in NODE_EXTRA_CA_CERTS an und starte Homeport neu.',
  'provider_error.certificate.expired':
    'Das Zertifikat des Anbieters ist abgelaufen oder noch nicht gültig. Erneuere es und prüfe die Uhr des Servers. NODE_EXTRA_CA_CERTS hilft hier nicht.',
  'provider_error.certificate.host':
    'Das Zertifikat des Anbieters wurde für einen anderen Namen ausgestellt. Verwende den Namen im Zertifikat als Adresse. NODE_EXTRA_CA_CERTS hilft hier nicht.',
  'provider_error.certificate.not_tls':
    'Der Server an dieser https-Adresse verwendet kein TLS, also gibt es kein Zertifikat, dem man vertrauen könnte. Verwende http statt https oder den Port für https; NODE_EXTRA_CA_CERTS hilft hier nicht.',
  'provider_error.protocol':
    'Das Modell oder die Adresse braucht ein anderes Protokoll. Wähle ein anderes Protokoll für den Anbieter oder ein anderes Modell.',
  'provider_error.protocol.answered':
    'Diese Adresse hat als {answered} geantwortet; der Anbieter ist auf {expected} eingestellt. Wähle dieses Protokoll oder prüfe die Basisadresse.',
  'provider_error.protocol.needs_tls': 'Der Server erwartet an dieser Adresse https. Verwende https statt http.',
  'provider_error.protocol.web_page':
    'Der Anbieter hat mit einer Webseite geantwortet. Prüfe die Basisadresse (sie endet oft auf /v1).',
  'provider_error.context':
    'Die Unterhaltung ist zu lang für das Modell. Prüfe das Kontextfenster in den Einstellungen des Modells oder beginne einen neuen Kontext.',
  'provider_error.parameter':
    'Der Anbieter hat eine Einstellung der Anfrage abgelehnt. Prüfe die Einstellungen und Grenzen des Modells.',
  'provider_error.parameter.parameter':
    'Der Anbieter hat die Einstellung „{parameter}“ abgelehnt. Prüfe die Einstellungen und Grenzen des Modells.',
  'provider_error.tools':
    'Der Anbieter hat die Werkzeuge dieser Unterhaltung abgelehnt. Wähle ein Modell, das Werkzeuge verwenden kann, oder schalte sie für dieses Modell aus.',
  'provider_error.images':
    'Der Anbieter hat ein Bild abgelehnt: Das Modell nimmt keine an, oder dieses ist zu groß oder beschädigt. Wähle ein anderes Modell oder entferne das Bild.',
  'provider_error.overloaded': 'Der Anbieter ist überlastet. Versuche es gleich noch einmal.',
  'provider_error.overloaded.retryAt': 'Der Anbieter ist überlastet. Versuche es nach {retryAt} erneut.',
  'provider_error.rate_limit': 'Der Anbieter begrenzt die Anfragen. Warte einen Moment und versuche es erneut.',
  'provider_error.rate_limit.retryAt': 'Der Anbieter begrenzt die Anfragen bis {retryAt}. Versuche es dann erneut.',
  'provider_error.other.model': 'Der Anbieter kennt dieses Modell nicht. Prüfe die Modell-ID.',
  'provider_error.other.address':
    'Der Anbieter kennt diese Adresse oder dieses Modell nicht. Prüfe die Basisadresse und die Modell-ID.',
  'provider_error.other.version':
    'An dieser Basisadresse gibt es keine Modellliste, aber an {baseUrl}. Verwende diese Basisadresse.',
  'provider_error.other.access':
    'Der Anbieter hat den Zugriff verweigert. Prüfe den API-Schlüssel und ob er dieses Modell verwenden darf.',
  'provider_error.other.size':
    'Die Anfrage ist zu groß für den Anbieter. Beginne einen neuen Kontext oder sende weniger.',
  'provider_error.other.timeout': 'Der Anbieter hat zu lange für die Antwort gebraucht. Versuche es erneut.',
  'provider_error.other.redirect': 'Der Anbieter leitet auf eine andere Adresse um. Prüfe die Basisadresse.',
  'provider_error.other.internal': 'Beim Anbieter gab es einen internen Fehler. Versuche es später erneut.',
  'provider_error.other.refused':
    'Der Anbieter hat die Anfrage abgelehnt. Prüfe die Modell-ID und die Grenzen des Modells.',
  'provider_error.other.malformed_call':
    'Der Werkzeugaufruf des Modells war zweimal nicht lesbar. Versuche es noch einmal, oder wähle ein anderes Modell.',
  'provider_error.other.unreadable': 'Der Anbieter hat unerwartet geantwortet.',
};
