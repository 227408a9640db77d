{{- define "homeport.name" -}}
{{- if contains "homeport" .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-homeport" (.Release.Name | trunc 39 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "homeport.selector" -}}
app.kubernetes.io/name: homeport
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "homeport.labels" -}}
{{ include "homeport.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "homeport.workspaceNamespace" -}}
{{- .Values.workspaces.namespace | default .Release.Namespace -}}
{{- end -}}

{{- /* Streams and terminals stay open for hours, uploads are passed on as they arrive. Traefik does all of that by itself. */ -}}
{{- define "homeport.ingressAnnotations" -}}
{{- if eq .Values.ingress.controller "nginx" -}}
nginx.ingress.kubernetes.io/proxy-buffering: "off"
nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
nginx.ingress.kubernetes.io/proxy-read-timeout: "3600"
nginx.ingress.kubernetes.io/proxy-send-timeout: "3600"
nginx.ingress.kubernetes.io/proxy-body-size: 110m
{{- end -}}
{{- end -}}

{{- /* A value as text. Numbers of a values file arrive as floats, which Go would write as 1.048576e+06. */ -}}
{{- define "homeport.text" -}}
{{- if not (kindIs "float64" .) -}}{{- toString . -}}
{{- else if eq . (floor .) -}}{{- printf "%.0f" . -}}
{{- else -}}{{- regexReplaceAll "0+$" (printf "%.9f" .) "" -}}
{{- end -}}
{{- end -}}

{{- /* Annotations and labels: every value is a text, whatever a values file took it for. */ -}}
{{- define "homeport.texts" -}}
{{- $lines := list }}
{{- range $name, $value := . }}
{{- $lines = append $lines (printf "%s: %s" $name (include "homeport.text" $value | quote)) }}
{{- end }}
{{- join "\n" $lines }}
{{- end -}}

{{- define "homeport.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (include "homeport.text" ($image.tag | default .Chart.AppVersion)) -}}
{{- end -}}
{{- end -}}

{{- /* Pods with the same text are of the same release and may run beside each other. */ -}}
{{- define "homeport.release" -}}
{{- printf "%s %s" .Chart.AppVersion (include "homeport.image" .) -}}
{{- end -}}

{{- /*
Two releases never use one database at the same time, so another release takes the place of all pods at once. What runs is unknown to
`helm template` and at the first installation; Recreate is right in any case.
*/ -}}
{{- define "homeport.strategy" -}}
{{- $current := lookup "apps/v1" "Deployment" .Release.Namespace (include "homeport.name" .) | default dict -}}
{{- $same := eq (dig "metadata" "annotations" "homeport.release" "" $current) (include "homeport.release" .) -}}
{{- if ne .Values.updateStrategy "auto" -}}{{- .Values.updateStrategy -}}
{{- else if $same -}}RollingUpdate
{{- else -}}Recreate
{{- end -}}
{{- end -}}

{{- /* Settings that are secrets: a Secret and a key of it by the name of each setting. */ -}}
{{- define "homeport.secrets" -}}
{{- $three := dict "AUTH_SECRET" dict "SETTINGS_ENCRYPTION_KEY" dict "DATABASE_URL" dict }}
{{- toYaml (merge dict .Values.secretSettings $three) }}
{{- end -}}

{{- /* 0440, or 0444 where no group is known that could read them; in decimal, which every version of YAML reads alike. */ -}}
{{- define "homeport.secretMode" -}}
{{- if hasKey (.Values.podSecurityContext | default dict) "fsGroup" -}}288{{- else -}}292{{- end -}}
{{- end -}}
